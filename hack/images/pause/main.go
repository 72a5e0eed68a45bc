// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command pause keeps the namespaces of a pod while its containers are started and stopped.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Where the containers of a pod share their processes it is the parent of the orphans. Ignored, they leave no zombie.
	signal.Ignore(syscall.SIGCHLD)

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
