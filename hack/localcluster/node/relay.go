// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// RelayAPIServer relays connections to the API server until the process ends. The API server only listens on the port of the
// loopback interface.
func (n *Node) RelayAPIServer(port int) error {
	listener, err := listenFree(n.APIServer())
	if err != nil {
		return fmt.Errorf("relaying to the API server: %w", err)
	}
	go relay(listener, fmt.Sprintf("127.0.0.1:%d", port))
	return nil
}

// listenFree listens on an address that the machine does not have yet.
func listenFree(address netip.AddrPort) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, socket syscall.RawConn) error {
		var optionErr error
		err := socket.Control(func(descriptor uintptr) {
			optionErr = unix.SetsockoptInt(int(descriptor), unix.IPPROTO_IP, unix.IP_FREEBIND, 1)
		})
		return errors.Join(err, optionErr)
	}}
	return config.Listen(context.Background(), "tcp4", address.String())
}

func relay(listener net.Listener, to string) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer from.Close()
			there, err := net.Dial("tcp4", to)
			if err != nil {
				return
			}
			defer there.Close()
			join(from.(*net.TCPConn), there.(*net.TCPConn))
		}()
	}
}

// join relays the data of both connections, and closes each direction at its end.
func join(a, b *net.TCPConn) {
	var both sync.WaitGroup
	for _, way := range []struct{ from, to *net.TCPConn }{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way.to, way.from)
			_ = way.to.CloseWrite()
		})
	}
	both.Wait()
}
