// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"
)

// TestRelay sends more data than any buffer holds in both directions, and closes each direction separately.
func TestRelay(t *testing.T) {
	server, front := listen(t), listen(t)
	go echo(server)
	go relay(front, server.Addr().String())

	connection, err := net.Dial("tcp4", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	sent := make([]byte, 8<<20)
	_, _ = rand.Read(sent)
	go func() {
		_, _ = connection.Write(sent)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	received, err := io.ReadAll(connection)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(received, sent) {
		t.Errorf("sent %d bytes, and got back %d others", len(sent), len(received))
	}
}

func TestRelayToNobody(t *testing.T) {
	gone, front := listen(t), listen(t)
	gone.Close()
	go relay(front, gone.Addr().String())

	connection, err := net.Dial("tcp4", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if answer, err := io.ReadAll(connection); len(answer) > 0 {
		t.Errorf("the answer without a server is %q, %v", answer, err)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// echo sends all data of one connection back after it has received all of it.
func echo(listener net.Listener) {
	connection, err := listener.Accept()
	if err != nil {
		return
	}
	defer connection.Close()
	said, _ := io.ReadAll(connection)
	_, _ = connection.Write(said)
}
