// Package embedded starts private servers for a demo and for tests: a PostgreSQL from the
// binaries of the machine, a real redis-server, and an in-process Redis.
//
// Each server process runs under a supervisor, a few lines of shell that read a pipe whose other
// end only this process holds. When the pipe closes, because Stop was called or because this
// process died in whatever way, the supervisor stops the server and removes its folder. So
// nothing is left behind even after kill -9. The supervisor has a session of its own: Ctrl-C at
// the terminal reaches this process alone, which can then finish its work before it stops the
// servers.
//
// Servers listen on free loopback ports only. PostgreSQL asks for a generated password.
package embedded
