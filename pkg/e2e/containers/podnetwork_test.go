// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNetworkOf calls do in the network namespace of the pod with the IP address. Programs that do starts are in it as well.
func inNetworkOf(podIP string, do func() error) error {
	processes, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, file := range processes {
		namespace, err := os.Readlink(file)
		if err != nil || seen[namespace] {
			continue // The process has ended, or shares a network with another one.
		}
		seen[namespace] = true
		isIt := false
		err = inNamespace(file, func() error {
			if isIt = hasAddress(podIP); isIt {
				return do()
			}
			return nil
		})
		if isIt {
			return err
		}
	}
	return fmt.Errorf("no process has the address %s", podIP)
}

// inNamespace calls do in the network namespace of a file.
func inNamespace(file string, do func() error) error {
	namespace, err := os.Open(file)
	if err != nil {
		return err
	}
	defer namespace.Close()
	failed := make(chan error, 1)
	go func() {
		// The thread ends with the goroutine, because it is never unlocked. No other goroutine gets into the namespace.
		runtime.LockOSThread()
		if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			failed <- fmt.Errorf("entering %s: %w", file, err)
			return
		}
		failed <- do()
	}()
	return <-failed
}

func hasAddress(ip string) bool {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.String() == ip {
			return true
		}
	}
	return false
}
