// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"
)

// BenchmarkLargeUpdates updates 100 boxes of nearly the largest size 10,000 times. Afterwards, it measures the memory without the
// page cache of files, the size on disk, and the time until a new server with the same data serves. Run it with -benchtime=1x.
func BenchmarkLargeUpdates(b *testing.B) {
	const (
		boxes   = 100
		updates = 10_000
		size    = 90 << 10
	)
	value := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	for b.Loop() {
		dir := newDir(b)
		stop := startQuietly(b, dir)
		client := newClient(b, dir)
		began := time.Now()
		for i := range updates {
			random.Read(value)
			if _, err := client.Put(b.Context(), fmt.Sprintf("/registry/box-%d", i%boxes), string(value)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(updates/time.Since(began).Seconds(), "updates/s")
		client.Close()
		runtime.GC()
		b.ReportMetric(anonymousMiB(b), "anon-MiB")
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		b.ReportMetric(float64(heap.HeapAlloc)/(1<<20), "heap-MiB")
		b.ReportMetric(directoryMiB(b, filepath.Join(dir, "etcd", "member", "wal")), "wal-MiB")
		b.ReportMetric(directoryMiB(b, filepath.Join(dir, "etcd", "member", "snap")), "db-MiB")
		stop()

		began = time.Now()
		stop = startQuietly(b, dir)
		client = newClient(b, dir)
		if response, err := client.Get(b.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || response.Count != boxes {
			b.Fatalf("got %v, %v", response, err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "restart-s")
		client.Close()
		stop()
	}
}

// startQuietly starts an etcd without logs, which the benchmark would measure as well.
func startQuietly(b *testing.B, dir string) (stop func()) {
	b.Helper()
	server, err := Start(klog.NewContext(b.Context(), klog.Logger{}), Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	return server.Stop
}

// anonymousMiB returns the anonymous resident memory of this process in MiB.
func anonymousMiB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == "RssAnon:" {
			kib, err := strconv.Atoi(string(fields[1]))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	b.Skip("the kernel does not tell")
	return 0
}

func directoryMiB(b *testing.B, dir string) float64 {
	b.Helper()
	var total int64
	if err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return float64(total) / (1 << 20)
}
