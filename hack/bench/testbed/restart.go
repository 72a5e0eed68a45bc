// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

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
	// readyInterval is the precision of the time of a start.
	readyInterval = 5 * time.Millisecond
)

// RestartServer stops the server gracefully. It returns the time that the next process takes from its execution until /readyz
// succeeds.
func (bed *Testbed) RestartServer(ctx context.Context) (time.Duration, error) {
	former, err := bed.PID(APIServer)
	if err != nil {
		return 0, err
	}
	ready, err := bed.serverClient(APIServer)
	if err != nil {
		return 0, err
	}
	if err := syscall.Kill(former, syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("stopping the server: %w", err)
	}
	var age time.Duration
	var last error
	err = wait.PollUntilContextTimeout(ctx, readyInterval, restartTimeout, true, func(ctx context.Context) (bool, error) {
		pid, err := bed.PID(APIServer)
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
