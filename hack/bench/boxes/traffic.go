// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"context"
	"net"
	"sync/atomic"
)

// traffic counts what comes over connections.
type traffic struct{ received atomic.Int64 }

func (t *traffic) dialer(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: connection, traffic: t}, nil
	}
}

type countedConn struct {
	net.Conn
	traffic *traffic
}

func (c *countedConn) Read(buffer []byte) (int, error) {
	n, err := c.Conn.Read(buffer)
	c.traffic.received.Add(int64(n))
	return n, err
}
