// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package argorollouts

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// noLimit is more requests a second than the control plane can serve.
const noLimit = 5000

// Start installs Argo Rollouts, and runs its controller as a process of the control plane until stop is called. It reconciles so
// many Rollouts at the same time.
func Start(ctx context.Context, bed *testbed.Testbed, workers int) (stop func() error, err error) {
	if err := bed.InstallDefinitions(ctx, testbed.ArgoRolloutsDefinitions); err != nil {
		return nil, err
	}
	return bed.RunServer(testbed.ArgoRollouts, exec.Command(bed.Programs.Path(testbed.ArgoRollouts),
		"--kubeconfig="+bed.Kubeconfig(),
		"--leader-elect=false",
		fmt.Sprintf("--rollout-threads=%d", workers),
		fmt.Sprintf("--qps=%d", noLimit),
		fmt.Sprintf("--burst=%d", noLimit),
		// Any free ports.
		"--metricsPort=0",
		"--healthzPort=0",
	))
}
