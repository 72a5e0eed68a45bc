// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package testbed runs the control plane of a benchmark: real components on this machine, with disks that sync and without audit
// logs.
package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
	pollInterval = 100 * time.Millisecond

	// controllerQPS is more than two cores can serve, so that a benchmark does not measure a rate limit.
	controllerQPS = 5000
)

// Programs has the paths of the programs of a control plane.
type Programs struct {
	// Bin is the directory of the programs that make builds: localcluster, modelbox-apiserver, kro, argo-rollouts, and an etcd of
	// the version that the server embeds.
	Bin string
	// Artifacts is the directory of the manifests of the server.
	Artifacts string
}

// Path returns the path of a program.
func (p Programs) Path(name string) string { return filepath.Join(p.Bin, name) }

// Check returns an error that names the missing programs.
func (p Programs) Check() error {
	for _, path := range []string{p.Path(localCluster), p.Path(APIServer), p.Path(etcd), p.Path(Kro), p.Path(KroDefinitions), p.Path(ArgoRollouts), p.Path(ArgoRolloutsDefinitions), p.Artifacts} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s is missing: run make bench, or make bench-quick, which build it: %w", path, err)
		}
	}
	return nil
}

// Run runs a program to its end and returns its output.
func (p Programs) Run(ctx context.Context, command ...string) (string, error) {
	output, err := exec.CommandContext(ctx, p.Path(command[0]), command[1:]...).Output()
	return strings.TrimSpace(string(output)), err
}

// The names of the files with the CustomResourceDefinitions of peers.
const (
	KroDefinitions          = "kro-definitions.yaml"
	ArgoRolloutsDefinitions = "argo-rollouts-definitions.yaml"
)

// The names of programs and of their processes.
const (
	APIServer     = "modelbox-apiserver"
	KubeAPIServer = "kube-apiserver"
	Kro           = "kro"
	ArgoRollouts  = "argo-rollouts"

	localCluster      = "localcluster"
	etcd              = "etcd"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// Options are the options of a control plane. Control planes with equal options are interchangeable.
type Options struct {
	// Controllers runs the controllers of the server. Without them, the server only stores boxes.
	Controllers bool
	// Nodes is the number of simulated nodes. With 0, no pod becomes ready.
	Nodes int
	// ResyncPeriod is the period in which the server reconciles every box without a change, 0 for its default.
	ResyncPeriod time.Duration
}

// Testbed is a running control plane. Call Stop.
type Testbed struct {
	Dir string
	// Programs are the programs of the control plane.
	Programs Programs
	// Admin is the configuration of clients of an administrator. No measurement uses it, because kube-apiserver checks no
	// permissions of an administrator.
	Admin *rest.Config
	// Client is a client of the administrator.
	Client kubernetes.Interface
	// User is the configuration of clients of a service account with permissions by RBAC, like most clients.
	User *rest.Config

	supervisor *exec.Cmd
	ended      chan error
	// others holds the processes of additional servers, by name.
	others map[string]int
}

// Start starts a control plane in a directory and returns when it is ready. The logs of its programs are in the directory.
func Start(ctx context.Context, dir string, programs Programs, options Options) (*Testbed, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", dir, err)
	}
	bed := &Testbed{Dir: dir, Programs: programs, supervisor: command(dir, programs, options), ended: make(chan error, 1), others: map[string]int{}}
	if err := bed.launch(); err != nil {
		return nil, err
	}
	if err := bed.prepare(ctx); err != nil {
		return nil, errors.Join(err, bed.Stop())
	}
	return bed, nil
}

func command(dir string, programs Programs, options Options) *exec.Cmd {
	arguments := []string{"run",
		"--dir=" + dir,
		"--server=" + programs.Path(APIServer),
		"--artifacts=" + programs.Artifacts,
		"--etcd-binary=" + programs.Path(etcd),
		"--etcd-fsync",
		"--audit=false",
		fmt.Sprintf("--controller-qps=%d", controllerQPS),
		fmt.Sprintf("--nodes=%d", options.Nodes),
		fmt.Sprintf("--timeout=%s", startTimeout),
	}
	if !options.Controllers {
		arguments = append(arguments, "--server-arg=--controllers=-modelbox")
	}
	if options.ResyncPeriod > 0 {
		arguments = append(arguments, fmt.Sprintf("--server-arg=--modelbox-resync-period=%s", options.ResyncPeriod))
	}
	return exec.Command(programs.Path(localCluster), arguments...)
}

// launch starts the supervisor. The supervisor stops with this process, and stops all processes that it has started.
func (bed *Testbed) launch() error {
	if err := os.MkdirAll(filepath.Join(bed.Dir, "logs"), 0o700); err != nil {
		return fmt.Errorf("creating the folder for logs: %w", err)
	}
	log, err := os.Create(bed.log())
	if err != nil {
		return fmt.Errorf("creating the log: %w", err)
	}
	defer log.Close()
	bed.supervisor.Stdout, bed.supervisor.Stderr = log, log
	return startWithParent(bed.supervisor, bed.ended)
}

// Kubeconfig returns the path of the kubeconfig of the administrator.
func (bed *Testbed) Kubeconfig() string { return filepath.Join(bed.Dir, "kubeconfig") }

func (bed *Testbed) log() string { return filepath.Join(bed.Dir, "logs", "localcluster.log") }

func (bed *Testbed) prepare(ctx context.Context) error {
	if err := bed.awaitReady(ctx); err != nil {
		return err
	}
	var err error
	if bed.Admin, err = clientcmd.BuildConfigFromFlags("", bed.Kubeconfig()); err != nil {
		return fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	bed.Admin.QPS = -1
	bed.Admin.WarningHandler = rest.NoWarnings{}
	if bed.Client, err = kubernetes.NewForConfig(bed.Admin); err != nil {
		return fmt.Errorf("creating the administrator's client: %w", err)
	}
	return bed.createUser(ctx)
}

func (bed *Testbed) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		content, err := os.ReadFile(filepath.Join(bed.Dir, "run", "ready"))
		if err == nil && strings.TrimSpace(string(content)) == strconv.Itoa(bed.supervisor.Process.Pid) {
			return nil
		}
		select {
		case err := <-bed.ended:
			bed.ended <- err
			return fmt.Errorf("the control plane did not start, see %s: %w", bed.log(), err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the control plane, see %s: %w", bed.log(), ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Stop stops the control plane. It keeps the logs.
func (bed *Testbed) Stop() error {
	if err := bed.supervisor.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	select {
	case err := <-bed.ended:
		if err != nil {
			return fmt.Errorf("the control plane did not end well, see %s: %w", bed.log(), err)
		}
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the control plane did not end within %s", stopTimeout), bed.supervisor.Process.Kill())
	}
}
