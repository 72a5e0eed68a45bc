// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// newDir returns the path of a directory that does not exist yet. Unlike t.TempDir, which contains the name of the test, it is
// short enough for the path of a socket.
func newDir(t testing.TB) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "data")
}

// start starts an etcd. It is stopped at the end of the test, or by stop before.
func start(t testing.TB, dir string) (stop func()) {
	t.Helper()
	ctx := klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig()))
	server, err := Start(ctx, Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	isRunning := true
	stop = func() {
		if isRunning {
			server.Stop()
		}
		isRunning = false
	}
	t.Cleanup(stop)
	return stop
}

// with calls do with a client of the etcd in dir.
func with(t *testing.T, dir string, do func(ctx context.Context, client *clientv3.Client) error) {
	t.Helper()
	client := newClient(t, dir)
	defer client.Close()
	if err := do(t.Context(), client); err != nil {
		t.Fatal(err)
	}
}

// newClient returns a client of the etcd in dir. The caller must close it.
func newClient(t testing.TB, dir string) *clientv3.Client {
	t.Helper()
	endpoint, err := Endpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func put(t *testing.T, dir, key, value string) {
	t.Helper()
	with(t, dir, func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.Put(ctx, key, value)
		return err
	})
}

func checkValue(t *testing.T, dir, key, want string) {
	t.Helper()
	with(t, dir, func(ctx context.Context, client *clientv3.Client) error {
		response, err := client.Get(ctx, key)
		if err != nil {
			return err
		}
		if len(response.Kvs) != 1 || string(response.Kvs[0].Value) != want {
			t.Errorf("%s: got %v, want %s", key, response.Kvs, want)
		}
		return nil
	})
}

func TestDataPersistsOverARestart(t *testing.T) {
	dir := newDir(t)
	stop := start(t, dir)
	put(t, dir, "box", "web")
	checkValue(t, dir, "box", "web")
	stop()

	start(t, dir)
	checkValue(t, dir, "box", "web")
}

func TestADirectoryServesOneServer(t *testing.T) {
	dir := newDir(t)
	stop := start(t, dir)
	put(t, dir, "box", "web")

	second, err := Start(t.Context(), Config{Dir: dir})
	if err == nil {
		second.Stop()
		t.Fatal("a second server was started")
	}
	want := "data directory " + dir + " is in use by another process: stop that process, or specify another --data-dir"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	checkValue(t, dir, "box", "web")
	put(t, dir, "box", "still here")

	stop()
	start(t, dir)
	checkValue(t, dir, "box", "still here")
}

func TestTwoDirectoriesAreTwoServers(t *testing.T) {
	one, two := newDir(t), newDir(t)
	start(t, one)
	start(t, two)
	put(t, one, "box", "one")
	put(t, two, "box", "two")
	checkValue(t, one, "box", "one")
}

func TestACanceledStartUnlocksTheDirectory(t *testing.T) {
	dir := newDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// The server may be ready before the context is canceled, or not.
	if server, err := Start(ctx, Config{Dir: dir}); err == nil {
		server.Stop()
	}
	start(t, dir)
	put(t, dir, "box", "web")
}

func TestEndpoint(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const longest = "/" + "client.sock"
	for _, row := range []struct {
		name, dir, want string
	}{
		{"an absolute path", "/data", "unix:///data/client.sock"},
		{"a path with a slash at its end", "/data/", "unix:///data/client.sock"},
		{"a relative path", "data", "unix://" + here + "/data/client.sock"},
		{"the longest path", "/" + strings.Repeat("d", maxSocketPath-len(longest)-1), "unix:///" + strings.Repeat("d", maxSocketPath-len(longest)-1) + longest},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Endpoint(row.dir)
			if err != nil || got != row.want {
				t.Errorf("got %s, %v, want %s", got, err, row.want)
			}
		})
	}
}

func TestAPathThatIsTooLongForASocket(t *testing.T) {
	parent := filepath.Dir(newDir(t))
	dir := filepath.Join(parent, strings.Repeat("d", maxSocketPath-len(parent)-len("/client.sock")))
	_, endpointErr := Endpoint(dir)
	server, startErr := Start(t.Context(), Config{Dir: dir})
	if startErr == nil {
		server.Stop()
	}
	for name, err := range map[string]error{"Endpoint": endpointErr, "Start": startErr} {
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "has 108 characters and may have 107") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was created: %v", err)
	}
}

func TestTheDataIsPrivate(t *testing.T) {
	dir := newDir(t)
	start(t, dir)
	for _, path := range []string{dir, filepath.Join(dir, "etcd")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("%s has the mode %o, want 700", path, got)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "client.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Type() != os.ModeSocket {
		t.Errorf("the socket is a %s", info.Mode())
	}
}
