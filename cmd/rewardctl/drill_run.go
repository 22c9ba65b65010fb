package main

import (
	"context"
	"fmt"

	"rewardctl/grant/drill"
)

// runDrills plays one drill, or all, and prints what they showed.
func (a *app) runDrills(ctx context.Context, name string, f drillFlags) error {
	names, err := f.names(name)
	if err != nil {
		return err
	}
	report, err := openDrillReport(f.report)
	if err != nil {
		return err
	}
	servers, err := a.drillServers(ctx)
	if err != nil {
		return err
	}
	defer servers.stop()
	all := drillsJSON{Seed: fmt.Sprint(f.seed), Drills: []drillProofJSON{}, Proved: true}
	var proofs []drill.Proof
	for i, one := range names {
		if i > 0 && a.output == string(formatTable) {
			a.gap()
		}
		opt := servers.with(f.options(one))
		if f.defence != "" {
			return a.runOnce(ctx, opt, report)
		}
		p, err := a.prove(ctx, opt)
		if err != nil {
			return err
		}
		proofs = append(proofs, p)
		all.Drills = append(all.Drills, newProofJSON(p))
		all.Proved = all.Proved && p.Proved
	}
	if err := a.printProofs(name, proofs, all); err != nil {
		return err
	}
	if err := report.write(proofs, f.seed); err != nil {
		return err
	}
	if !all.Proved {
		return ended(exitFindings)
	}
	return nil
}

// names are the drills to play. All flags are checked before anything is started.
func (f drillFlags) names(name string) ([]string, error) {
	if name == drillAll {
		for flag, given := range map[string]bool{
			"defence": f.defence != "", "pause": f.pause != 0, "workers": f.workers != 0,
			"rounds": f.rounds != 0,
		} {
			if given {
				return nil, usage(flag, "name one drill, or leave --"+flag+" out",
					"--%s does not go with all drills: not all of them know it", flag)
			}
		}
		for _, one := range drillNames() {
			if err := f.options(one).Check(); err != nil {
				return nil, err
			}
		}
		return drillNames(), nil
	}
	return []string{name}, f.options(name).Check()
}

// options are what the flags say about one drill.
func (f drillFlags) options(name string) drill.Options {
	return drill.Options{
		Name: name, Defence: drill.Defence(f.defence), TTL: f.ttl, Pause: f.pause, Seed: f.seed,
		Workers: f.workers, Rounds: f.rounds,
	}
}

// runOnce plays a drill with one of its defences.
func (a *app) runOnce(ctx context.Context, opt drill.Options, out *drillReport) error {
	about, err := drill.Find(opt.Name)
	if err != nil {
		return err
	}
	if opt.Defence, err = about.Parse(string(opt.Defence)); err != nil {
		return err
	}
	report, err := a.playDrill(ctx, about, opt)
	if err != nil {
		return err
	}
	if a.output == string(formatTable) {
		err = a.printDrill(report)
	} else {
		err = a.printDrillData(report)
	}
	if err == nil {
		err = out.write([]drill.Proof{{Defended: report, Proved: report.OK}}, opt.Seed)
	}
	if err != nil || report.OK {
		return err
	}
	return ended(exitFindings)
}

// playDrill plays once and shows the timeline as it happens, when people look.
func (a *app) playDrill(
	ctx context.Context, about drill.Description, opt drill.Options,
) (drill.Report, error) {
	if a.output == string(formatTable) {
		if opt.TTL == 0 {
			opt.TTL = about.TTL
		}
		if err := a.drillHead(about, opt); err != nil {
			return drill.Report{}, err
		}
		opt.OnRow = func(r drill.Row) { _ = a.drillRow(r) }
	}
	return drill.Run(ctx, opt)
}

// prove plays a drill without its defences and with them.
func (a *app) prove(ctx context.Context, opt drill.Options) (drill.Proof, error) {
	if a.output != string(formatTable) {
		return drill.Prove(ctx, opt)
	}
	about, err := drill.Find(opt.Name)
	if err != nil {
		return drill.Proof{}, err
	}
	if err := a.line("drill " + about.Name + ": " + about.Plays); err != nil {
		return drill.Proof{}, err
	}
	return drill.ProveWith(ctx, opt, func(ctx context.Context, opt drill.Options) (
		drill.Report, error,
	) {
		a.gap()
		report, err := a.playDrill(ctx, about, opt)
		if err != nil {
			return report, err
		}
		return report, a.printDrill(report)
	})
}
