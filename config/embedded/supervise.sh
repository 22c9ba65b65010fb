# purpose: run one server, stop it when the starter goes away, and clean up.
# args:    DIR REMOVE SIGNAL COMMAND...
#          REMOVE is "remove" when DIR is to disappear with the server, else "keep".
# stdin:   a pipe whose other end only the starter holds. The line "init LOCALE" runs $INITDB,
#          the line "start" runs COMMAND, the end of the input stops it.
# stdout:  "ready" when DIR is there, "init STATUS", "pid PID", and "log LINE" for the last
#          lines of the server's log when it has ended.
dir=$1 remove=$2 signal=$3
shift 3
unset SUPERVISE
umask 077
trap '' INT QUIT HUP PIPE
exec 3<&0 </dev/null

clean() {
	cd /
	[ "$remove" != remove ] || rm -rf -- "$dir"
	exit "$1"
}

if [ "$remove" = remove ] && ! [ -d "$dir" ]; then
	mkdir -- "$dir" || exit 1
fi
echo ready

word=
while read -r word locale <&3; do
	case $word in
	init)
		"$INITDB" --no-sync --data-checksums --encoding=UTF8 --locale="$locale" \
			--lc-messages=C --auth=scram-sha-256 --username=rewardctl \
			--pwfile="$dir/password" --pgdata="$dir/data" >"$dir/server.log" 2>&1
		echo "init $?"
		;;
	start) break ;;
	esac
done
[ "$word" = start ] || clean 0

"$@" >>"$dir/server.log" 2>&1 3<&- &
pid=$!
echo "pid $pid"
trap 'kill -s "$signal" "$pid"' TERM

# The server may not listen to signals yet, so the request is repeated, every second. After half
# a minute it is no request any more.
(
	trap - TERM
	read -r word <&3
	tries=0
	while [ "$tries" -lt 300 ]; do
		[ $((tries % 10)) -ne 0 ] || kill -s "$signal" "$pid" || exit
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -s KILL "$pid"
) >/dev/null 2>&1 &
watcher=$!

while kill -s 0 "$pid" 2>/dev/null; do
	wait "$pid"
	status=$?
done
kill -s KILL "$watcher" 2>/dev/null
tail -n 20 "$dir/server.log" 2>/dev/null | sed 's/^/log /'
clean "$status"
