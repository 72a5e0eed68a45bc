// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ground is what contestants meet on: a real control plane on this machine, whose disks count and whose logs do not.
package ground

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

	// controllerQPS is more than two cores can do, so that no limit is what is measured.
	controllerQPS = 5000
)

// Programs is where the programs are that a control plane consists of.
type Programs struct {
	// Bin has what make builds: localcluster, modelbox-apiserver, the etcd of the version that the server embeds, and kro.
	Bin string
	// Artifacts has the manifests of the server.
	Artifacts string
}

// Path is that of a program.
func (p Programs) Path(name string) string { return filepath.Join(p.Bin, name) }

// Check returns an error that says what is missing.
func (p Programs) Check() error {
	for _, path := range []string{p.Path(localCluster), p.Path(APIServer), p.Path(etcd), p.Path(Kro), p.Path(KroDefinitions), p.Artifacts} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s is missing: run make bench, or make bench-quick, which build it: %w", path, err)
		}
	}
	return nil
}

// Run runs one of the programs to its end and returns what it prints.
func (p Programs) Run(ctx context.Context, command ...string) (string, error) {
	output, err := exec.CommandContext(ctx, p.Path(command[0]), command[1:]...).Output()
	return strings.TrimSpace(string(output)), err
}

// KroDefinitions is the name of the file with the definitions of the kinds that kro itself has.
const KroDefinitions = "kro-definitions.yaml"

// The names of programs, which are also those of their processes.
const (
	APIServer     = "modelbox-apiserver"
	KubeAPIServer = "kube-apiserver"
	Kro           = "kro"

	localCluster      = "localcluster"
	etcd              = "etcd"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// Options are what scenarios differ in. Control planes of the same options are alike.
type Options struct {
	// Controllers lets the server turn boxes into what they are about. Without them boxes are stored, and nothing more.
	Controllers bool
	// Nodes is the number of simulated nodes. Without any, no pod becomes ready.
	Nodes int
	// ResyncPeriod is how often the server looks at every box although nothing happened; 0 for its default.
	ResyncPeriod time.Duration
}

// Ground is a running control plane.
type Ground struct {
	Dir string
	// Programs are those that it runs.
	Programs Programs
	// Admin is the configuration of clients that may do everything. Nothing that is measured uses it: an administrator is
	// asked for no permission.
	Admin *rest.Config
	// Client is the administrator's.
	Client kubernetes.Interface
	// User is the configuration of clients of a service account that RBAC allows to do what is measured, as most are.
	User *rest.Config

	supervisor *exec.Cmd
	ended      chan error
	// others are servers that are none of the control plane's own, by their names.
	others map[string]int
}

// Start starts a control plane in a directory of its own and returns when it is ready. What its programs say goes to a log
// there.
func Start(ctx context.Context, dir string, programs Programs, options Options) (*Ground, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", dir, err)
	}
	g := &Ground{Dir: dir, Programs: programs, supervisor: command(dir, programs, options), ended: make(chan error, 1), others: map[string]int{}}
	if err := g.launch(); err != nil {
		return nil, err
	}
	if err := g.prepare(ctx); err != nil {
		return nil, errors.Join(err, g.Stop())
	}
	return g, nil
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

// launch starts the supervisor, which ends everything it has started when it ends, and is told to when this process does.
func (g *Ground) launch() error {
	if err := os.MkdirAll(filepath.Join(g.Dir, "logs"), 0o700); err != nil {
		return fmt.Errorf("creating the folder for logs: %w", err)
	}
	log, err := os.Create(g.log())
	if err != nil {
		return fmt.Errorf("creating the log: %w", err)
	}
	defer log.Close()
	g.supervisor.Stdout, g.supervisor.Stderr = log, log
	return startWithParent(g.supervisor, g.ended)
}

// Kubeconfig is the path of the administrator's.
func (g *Ground) Kubeconfig() string { return filepath.Join(g.Dir, "kubeconfig") }

func (g *Ground) log() string { return filepath.Join(g.Dir, "logs", "localcluster.log") }

func (g *Ground) prepare(ctx context.Context) error {
	if err := g.awaitReady(ctx); err != nil {
		return err
	}
	var err error
	if g.Admin, err = clientcmd.BuildConfigFromFlags("", g.Kubeconfig()); err != nil {
		return fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	g.Admin.QPS = -1
	g.Admin.WarningHandler = rest.NoWarnings{}
	if g.Client, err = kubernetes.NewForConfig(g.Admin); err != nil {
		return fmt.Errorf("creating the administrator's client: %w", err)
	}
	return g.createUser(ctx)
}

func (g *Ground) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		content, err := os.ReadFile(filepath.Join(g.Dir, "run", "ready"))
		if err == nil && strings.TrimSpace(string(content)) == strconv.Itoa(g.supervisor.Process.Pid) {
			return nil
		}
		select {
		case err := <-g.ended:
			g.ended <- err
			return fmt.Errorf("the control plane did not start, see %s: %w", g.log(), err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the control plane, see %s: %w", g.log(), ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Stop ends the control plane. Its logs stay.
func (g *Ground) Stop() error {
	if err := g.supervisor.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	select {
	case err := <-g.ended:
		if err != nil {
			return fmt.Errorf("the control plane did not end well, see %s: %w", g.log(), err)
		}
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the control plane did not end within %s", stopTimeout), g.supervisor.Process.Kill())
	}
}
