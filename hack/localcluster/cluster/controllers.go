// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// DefaultControllerQPS is high enough for tests. The default of Kubernetes, 20 requests a second, would limit all measurements.
const DefaultControllerQPS = 500

const schedulerConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %q
  qps: %d
  burst: %d
leaderElection:
  leaderElect: false
`

func (c *Cluster) startControllers(ctx context.Context) error {
	configuration := fmt.Sprintf(schedulerConfiguration, c.partKubeconfig(program.Scheduler), c.settings.ControllerQPS, c.controllerBurst())
	if err := os.WriteFile(c.Config("scheduler.yaml"), []byte(configuration), 0o644); err != nil {
		return fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	return c.Supervisor.Start(ctx, c.controllerManager(), c.scheduler())
}

func (c *Cluster) controllerBurst() int { return 2 * c.settings.ControllerQPS }

func (c *Cluster) controllerManager() supervisor.Part {
	args := []string{
		"--kubeconfig=" + c.partKubeconfig(program.ControllerManager),
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + c.PKI("service-account.key"),
		"--root-ca-file=" + c.PKI("ca.crt"),
		"--cluster-signing-cert-file=" + c.PKI("ca.crt"),
		"--cluster-signing-key-file=" + c.PKI("ca.key"),

		fmt.Sprintf("--kube-api-qps=%d", c.settings.ControllerQPS),
		fmt.Sprintf("--kube-api-burst=%d", c.controllerBurst()),
		"--concurrent-deployment-syncs=50",
		"--concurrent-replicaset-syncs=50",
		"--concurrent-statefulset-syncs=50",
		"--concurrent-daemonset-syncs=20",
		"--concurrent-job-syncs=20",
		"--concurrent-endpoint-syncs=20",
		"--concurrent-service-endpoint-syncs=20",
		"--concurrent-gc-syncs=50",
		"--concurrent-namespace-syncs=20",
		"--horizontal-pod-autoscaler-sync-period=5s",
	}
	return c.controller(program.ControllerManager, c.ports.controllerManager, args)
}

func (c *Cluster) scheduler() supervisor.Part {
	args := []string{"--config=" + c.Config("scheduler.yaml")}
	return c.controller(program.Scheduler, c.ports.scheduler, args)
}

// controller returns a part that only serves its health and metrics.
func (c *Cluster) controller(name string, port int, args []string) supervisor.Part {
	kubeconfig := c.partKubeconfig(name)
	return supervisor.Part{
		Name: name,
		Path: c.settings.Host,
		Args: append([]string{
			name,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", port),
			"--permit-port-sharing", // with the socket that reserves the port
			"--tls-cert-file=" + c.PKI("loopback.crt"),
			"--tls-private-key-file=" + c.PKI("loopback.key"),
		}, args...),
		Ready:     probe.HTTPS(port, "/healthz", c.credentials.clusterCA.Certificate),
		StopGrace: 3 * time.Second,
	}
}

// awaitDefaultServiceAccount waits for the default service account, which pods require.
func (c *Cluster) awaitDefaultServiceAccount(ctx context.Context) error {
	return Poll(ctx, func() error {
		_, err := c.Client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}
