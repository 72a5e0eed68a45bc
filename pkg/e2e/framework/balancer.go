// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// probePeriod and probeTimeout are shorter than the defaults of the kubelet, so that tests wait less.
	probePeriod  = 200 * time.Millisecond
	probeTimeout = time.Second
)

// Balancer is the address of the APIService. Like kube-proxy, it routes each new connection to a random endpoint, and keeps existing
// connections.
type Balancer struct {
	listener net.Listener

	mu          sync.Mutex
	endpoints   []*Replica
	connections map[*Replica]int
}

// NewBalancer returns a balancer without endpoints, which listens until the end of the test.
func NewBalancer(t *testing.T) *Balancer {
	t.Helper()
	b := &Balancer{connections: map[*Replica]int{}}
	b.listener = serveConnections(t, b.lead)
	return b
}

// Port is the port number at which the balancer listens.
func (b *Balancer) Port() int { return b.listener.Addr().(*net.TCPAddr).Port }

func (b *Balancer) lead(client net.Conn) {
	endpoint := b.pick()
	if endpoint == nil {
		client.Close()
		return
	}
	defer b.count(endpoint, -1)
	defer client.Close()
	server, err := net.Dial("tcp", endpoint.Address())
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, server)
}

// pick returns a random endpoint, nil if there is none, and counts the connection.
func (b *Balancer) pick() *Replica {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.endpoints) == 0 {
		return nil
	}
	endpoint := b.endpoints[rand.IntN(len(b.endpoints))]
	b.connections[endpoint]++
	return endpoint
}

func (b *Balancer) count(endpoint *Replica, change int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connections[endpoint] += change
}

// Add adds a server to the endpoints.
func (b *Balancer) Add(server *Replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.endpoints, server) {
		b.endpoints = append(b.endpoints, server)
	}
}

// Remove removes a server from the endpoints. Its connections stay.
func (b *Balancer) Remove(server *Replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints = slices.DeleteFunc(b.endpoints, func(endpoint *Replica) bool { return endpoint == server })
}

// Probe updates the endpoints to the ready servers until ctx is done, like the kubelet and the EndpointSlice controller.
func (b *Balancer) Probe(ctx context.Context, servers ...*Replica) {
	var probing sync.WaitGroup
	defer probing.Wait()
	for _, server := range servers {
		probing.Go(func() {
			ticker := time.NewTicker(probePeriod)
			defer ticker.Stop()
			for ctx.Err() == nil {
				if server.IsReady(ctx) == nil {
					b.Add(server)
				} else {
					b.Remove(server)
				}
				<-ticker.C
			}
		})
	}
}

// AwaitEndpoints waits until exactly these servers are the endpoints.
func (b *Balancer) AwaitEndpoints(t *testing.T, servers ...*Replica) {
	t.Helper()
	Eventually(t, Patience, "the service leads to those servers that it should", func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, server := range servers {
			if !slices.Contains(b.endpoints, server) {
				return fmt.Errorf("server %s is not an endpoint", server.Name)
			}
		}
		if len(b.endpoints) != len(servers) {
			return fmt.Errorf("there are %d endpoints", len(b.endpoints))
		}
		return nil
	})
}

// AwaitNoConnections waits until the last connection to the server has ended.
func (b *Balancer) AwaitNoConnections(t *testing.T, server *Replica) {
	t.Helper()
	Eventually(t, Patience, "there is no connection to server "+server.Name, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if count := b.connections[server]; count > 0 {
			return fmt.Errorf("there are %d connections", count)
		}
		return nil
	})
}

// LeadTo changes the APIService to the balancer, and waits until a request through kube-apiserver has reached one of the servers.
// Until kube-apiserver observes the change, the former server responds.
func LeadTo(t *testing.T, p *ControlPlane, b *Balancer, servers []*Replica) {
	t.Helper()
	p.PatchAPIService(t, fmt.Sprintf(`{"spec":{"service":{"port":%d}}}`, b.Port()))
	boxes := p.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	attempt := 0
	Eventually(t, Patience, "a request reaches one of the servers", func() error {
		attempt++
		// The audit log only has writes. This write changes nothing.
		name := fmt.Sprintf("no-box-%d-%d", b.Port(), attempt)
		err := boxes.Delete(t.Context(), name, metav1.DeleteOptions{})
		for _, server := range servers {
			if log, readErr := os.ReadFile(server.AuditLog); readErr == nil && bytes.Contains(log, []byte(name)) {
				return nil
			}
		}
		return fmt.Errorf("no server has received the request: %w", err)
	})
}
