// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// etcd must listen only on the socket in the data directory, which file permissions protect. A TCP port and a socket in the
// abstract namespace have no permissions.
func TestNothingListensButTheSocket(t *testing.T) {
	dir := newDir(t)
	before := listeners(t)
	start(t, dir)
	got := slices.DeleteFunc(listeners(t), func(listener string) bool { return slices.Contains(before, listener) })
	want := []string{"unix " + filepath.Join(dir, "client.sock")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNothingListensButTheSocket depends on listeners: test that listeners finds other sockets.
func TestListenersAreSeen(t *testing.T) {
	name := "@" + filepath.Base(filepath.Dir(newDir(t)))
	for _, row := range []struct {
		network, address, want string
	}{
		{"tcp4", "127.0.0.1:0", "tcp "},
		{"unix", name, "unix " + name},
	} {
		t.Run(row.network, func(t *testing.T) {
			before := listeners(t)
			listener, err := net.Listen(row.network, row.address)
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			got := slices.DeleteFunc(listeners(t), func(listener string) bool { return slices.Contains(before, listener) })
			if len(got) != 1 || !strings.HasPrefix(got[0], row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// The states of a listening socket in /proc/net/tcp and the flags of one in /proc/net/unix.
const (
	tcpListens  = "0A"
	unixListens = "00010000"
)

// listeners returns the sockets that this process listens on: "tcp" and address, or "unix" and path.
func listeners(t *testing.T) []string {
	t.Helper()
	own := ownSockets(t)
	var listeners []string
	for _, table := range []string{"tcp", "tcp6"} {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		for _, fields := range rows(t, table) {
			if fields[3] == tcpListens && own[fields[9]] {
				listeners = append(listeners, "tcp "+fields[1])
			}
		}
	}
	// Num RefCount Protocol Flags Type St Inode Path
	for _, fields := range rows(t, "unix") {
		if fields[3] == unixListens && own[fields[6]] {
			listeners = append(listeners, fmt.Sprintf("unix %s", strings.Join(fields[7:], " ")))
		}
	}
	slices.Sort(listeners)
	return listeners
}

// rows returns the fields of each line of a table in /proc/net but its header.
func rows(t *testing.T, table string) [][]string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/net/" + table)
	if os.IsNotExist(err) && table == "tcp6" {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

// ownSockets returns the inodes of this process's sockets.
func ownSockets(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	sockets := map[string]bool{}
	for _, file := range files {
		target, err := os.Readlink(file)
		if err != nil {
			continue // it was closed meanwhile
		}
		if inode, isSocket := strings.CutPrefix(target, "socket:["); isSocket {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return sockets
}
