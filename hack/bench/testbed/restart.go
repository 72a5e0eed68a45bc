// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
)

const (
	restartTimeout = 5 * time.Minute
	// readyInterval is how exactly a start is measured.
	readyInterval = 5 * time.Millisecond
)

// RestartServer ends the server in order and returns how long the next one took from its execution until it was ready, as its
// readyz says.
func (g *Ground) RestartServer(ctx context.Context) (time.Duration, error) {
	former, err := g.PID(APIServer)
	if err != nil {
		return 0, err
	}
	ready, err := g.serverClient(APIServer)
	if err != nil {
		return 0, err
	}
	if err := syscall.Kill(former, syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("stopping the server: %w", err)
	}
	var age time.Duration
	var last error
	err = wait.PollUntilContextTimeout(ctx, readyInterval, restartTimeout, true, func(ctx context.Context) (bool, error) {
		pid, err := g.PID(APIServer)
		if err != nil || pid == former {
			last = fmt.Errorf("process %d is still the server: %w", former, err)
			return false, nil
		}
		if last = ready.Get().AbsPath("/readyz").Do(ctx).Error(); last != nil {
			return false, nil
		}
		age, err = process.Age(pid)
		return true, err
	})
	if err != nil {
		return 0, fmt.Errorf("waiting until the server is ready again: %w, last: %w", err, last)
	}
	return age, nil
}
