// Command rewardctl is a terminal console and a command line over a fenced grant engine.
package main

func main() {}
