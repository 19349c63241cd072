// Command plimsoll shows how much load a machine's storage can carry, and proves it before a
// database is put on it.
package main

import (
	"os"

	"plimsoll/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
