// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ReservePort reserves a free TCP port of 127.0.0.1 until the process ends, so that no other process gets it while a part is
// restarted.
//
// A socket that is bound and never listens reserves the port. A server can still listen on the port with SO_REUSEPORT, which is
// --permit-port-sharing of Kubernetes servers.
func ReservePort() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("reserving a port: %w", err)
	}
	port, err := bindAnyPort(socket)
	if err != nil {
		unix.Close(socket)
		return 0, fmt.Errorf("reserving a port: %w", err)
	}
	return port, nil
}

func bindAnyPort(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	return address.(*unix.SockaddrInet4).Port, nil
}
