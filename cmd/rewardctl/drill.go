package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant/drill"
)

func (a *app) drillCommand() *cobra.Command {
	return a.group("drill", "Play a failure on purpose and see which defence stops it",
		a.drillListCommand(), a.drillRunCommand(), a.drillWorkerCommand())
}

func (a *app) drillListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the drills", Args: noArguments,
		Example: "  rewardctl drill list",
		RunE: func(*cobra.Command, []string) error {
			l := listing{columns: columns("name", "defences", "plays")}
			for _, d := range drill.List() {
				j := drillDescriptionJSON{
					Name: d.Name, Plays: d.Plays, TTLMS: d.TTL.Milliseconds(), Columns: d.Columns,
				}
				for _, one := range d.Defences {
					j.Defences = append(j.Defences, string(one))
				}
				l.values = append(l.values, j)
				l.rows = append(l.rows, []cell{
					text(d.Name), text(strings.Join(j.Defences, " ")), text(d.Plays),
				})
			}
			return a.print(l)
		},
	}
}

// drillFlags are the flags of "drill run".
type drillFlags struct {
	ttl, pause      time.Duration
	defence         string
	workers, rounds int
	seed            uint64
	report          string
}

// drillAll is the word for every drill there is.
const drillAll = "all"

func (a *app) drillRunCommand() *cobra.Command {
	var f drillFlags
	cmd := &cobra.Command{
		Use:   "run NAME|all",
		Short: "Run a drill without its defences and with them, on private servers",
		Long: "Plays a drill twice: first the control, with the named defence off, which has to do" +
			" damage,\nthen with all defences, which have to stop it. Prints both timelines, what was" +
			" refused and the\ninvariants, and ends with 0 only when both came as they must, else with" +
			" 6. With --defence it\nplays once, with that defence, and ends with 0 only when the" +
			" invariants hold.\n\n" +
			"It starts a private PostgreSQL and Redis, which end with it. With --context or --config it" +
			" uses\nthe servers of that context, in a schema and under keys of its own, which it" +
			" removes; a protected\ncontext is refused.",
		Example: "  rewardctl drill run paused-holder\n" +
			"  rewardctl drill run paused-holder --ttl 1s --pause 1100ms --defence none\n" +
			"  rewardctl drill run lost-update --workers 8 --rounds 20\n" +
			"  rewardctl drill run all --report drills.md\n" +
			"  rewardctl --context staging drill run failover",
		Args:      arguments("NAME"),
		ValidArgs: append(drillNames(), drillAll),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = newSeed()
			}
			return a.runDrills(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.ttl, "ttl", 0, "time to live of the leases; the drill's own when 0")
	flags.DurationVar(&f.pause, "pause", 0,
		"paused-holder: how long worker A stalls; a little longer than --ttl when 0")
	flags.StringVar(&f.defence, "defence", "", "play once, with this defence (rewardctl drill list)")
	flags.IntVar(&f.workers, "workers", 0, "lost-update: how many workers collide; 2 when 0")
	flags.IntVar(&f.rounds, "rounds", 0, "lost-update: how often; once when 0")
	flags.Uint64Var(&f.seed, "seed", 0, "decides what a drill leaves open; a new one unless given")
	flags.StringVar(&f.report, "report", "", "also write what was shown into this Markdown file")
	return cmd
}

func drillNames() []string {
	var names []string
	for _, d := range drill.List() {
		names = append(names, d.Name)
	}
	return names
}

// newSeed returns a seed that is short enough to be typed again.
func newSeed() uint64 {
	const digits = 8
	seed, _ := strconv.ParseUint(newID()[:digits], 16, 64) // hexadecimal, by its contract
	return seed
}
