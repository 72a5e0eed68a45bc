// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing starts the product's server inside a test.
package testing

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app"
	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
)

// readyTimeout is how long a server may take until it is ready.
const readyTimeout = time.Minute

// endTimeout is how long a server may take to end after it has failed.
const endTimeout = time.Minute

// TestServer is a server that runs as the command runs it, on an embedded etcd, in front of a cluster without nodes,
// workloads and policies. Its controllers do not work there: nothing but the test changes what is stored.
type TestServer struct {
	// ClientConfig is how the test reaches the server, as a user who may do everything.
	ClientConfig *rest.Config
	// EtcdClient reads and writes the server's etcd.
	EtcdClient *clientv3.Client

	run *running
	// caFile has the CA of the server, once it has been written.
	caFile string
}

// StartTestServer starts a server with the flags and returns it when it is ready. It is stopped at the end of the test,
// which fails when the server does not end as it should.
func StartTestServer(t testing.TB, flags ...string) *TestServer {
	t.Helper()
	server := start(t, flags...)
	awaitReady(t, server.ClientConfig, server.caFile)
	return server
}

// RunTestServer runs a server with flags that make it end, and returns the error that it ended with.
func RunTestServer(t testing.TB, flags ...string) error {
	t.Helper()
	return start(t, flags...).AwaitEnd(t)
}

// AwaitEnd waits until the server has ended, and returns the error that it ended with.
func (s *TestServer) AwaitEnd(t testing.TB) error {
	t.Helper()
	select {
	case err := <-s.run.ended:
		s.run.isOver = true
		return err
	case <-time.After(endTimeout):
		t.Fatalf("the server still runs after %s", endTimeout)
		return nil
	}
}

// start is StartTestServer for a server that need not become ready.
func start(t testing.TB, flags ...string) *TestServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := writeKubeconfig(t, startCluster(t))
	certDir := t.TempDir()
	o := parse(t, append([]string{
		"--serving-certificate=self-signed",
		"--cert-dir=" + certDir,
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authentication-skip-lookup",
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
	}, flags...))
	if len(o.Recommended.Etcd.StorageConfig.Transport.ServerList) == 0 && o.Storage.DataDir == "" {
		o.Storage.DataDir = t.TempDir()
	}
	o.Recommended.SecureServing.Listener = listener
	o.Recommended.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	server := &TestServer{
		ClientConfig: &rest.Config{
			Host:        "https://" + listener.Addr().String(),
			BearerToken: "of-the-test",
			QPS:         -1,
		},
		run:    run(t, o),
		caFile: filepath.Join(certDir, "apiserver.crt"),
	}
	server.EtcdClient, err = clientv3.New(clientv3.Config{Endpoints: o.Recommended.Etcd.StorageConfig.Transport.ServerList})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.EtcdClient.Close() })
	return server
}

// parse returns the options of a command line. The server has its own versions and feature gates, apart from the other servers in
// the process.
func parse(t testing.TB, args []string) *options.Options {
	t.Helper()
	o := options.NewForRegistry(basecompatibility.NewComponentGlobalsRegistry())
	flags := pflag.NewFlagSet("modelbox-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.Server.ComponentGlobalsRegistry.Set(); err != nil {
		t.Fatal(err)
	}
	return o
}

// running is a server that runs. isOver is whether it is known how it ended.
type running struct {
	ended  chan error
	isOver bool
}

// run runs the server until the test has ended.
func run(t testing.TB, o *options.Options) *running {
	ctx, stop := context.WithCancel(context.Background())
	r := &running{ended: make(chan error, 1)}
	go func() { r.ended <- app.Run(ctx, o) }()
	t.Cleanup(func() {
		stop()
		if r.isOver {
			return
		}
		if err := <-r.ended; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return r
}

// awaitReady lets the config trust the CA in the file, which the server writes when it is configured: clients would not read it
// again that have read half of it.
func awaitReady(t testing.TB, config *rest.Config, caFile string) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		err := isReady(ctx, config, caFile)
		if ctx.Err() == nil {
			last = err // what the server says, not that the time is over
		}
		return err == nil, nil
	}); err != nil {
		t.Fatalf("the server is not ready: %v: %v", err, last)
	}
}

func isReady(ctx context.Context, config *rest.Config, caFile string) (err error) {
	if config.CAData, err = os.ReadFile(caFile); err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func writeKubeconfig(t testing.TB, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server}
	config.Contexts["cluster"] = &clientcmdapi.Context{Cluster: "cluster"}
	config.CurrentContext = "cluster"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}
