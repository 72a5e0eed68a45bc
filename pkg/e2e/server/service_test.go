// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// probePeriod and probeTimeout are shorter than the defaults of the kubelet, so that tests wait less.
	probePeriod  = 200 * time.Millisecond
	probeTimeout = time.Second
)

// service is the address of the APIService. Like kube-proxy, it routes each new connection to a random endpoint, and keeps existing
// connections.
type service struct {
	listener net.Listener

	mu          sync.Mutex
	endpoints   []*replica
	connections map[*replica]int
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{connections: map[*replica]int{}}
	s.listener = serveConnections(t, s.lead)
	return s
}

func (s *service) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *service) lead(client net.Conn) {
	endpoint := s.pick()
	if endpoint == nil {
		client.Close()
		return
	}
	defer s.count(endpoint, -1)
	defer client.Close()
	server, err := net.Dial("tcp", endpoint.address())
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
func (s *service) pick() *replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.endpoints) == 0 {
		return nil
	}
	endpoint := s.endpoints[rand.IntN(len(s.endpoints))]
	s.connections[endpoint]++
	return endpoint
}

func (s *service) count(endpoint *replica, change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[endpoint] += change
}

func (s *service) add(server *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.endpoints, server) {
		s.endpoints = append(s.endpoints, server)
	}
}

func (s *service) remove(server *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.DeleteFunc(s.endpoints, func(endpoint *replica) bool { return endpoint == server })
}

// probe updates the endpoints to the ready servers until ctx is done, like the kubelet and the EndpointSlice controller.
func (s *service) probe(ctx context.Context, servers ...*replica) {
	var probing sync.WaitGroup
	defer probing.Wait()
	for _, server := range servers {
		probing.Go(func() {
			ticker := time.NewTicker(probePeriod)
			defer ticker.Stop()
			for ctx.Err() == nil {
				if server.isReady(ctx) == nil {
					s.add(server)
				} else {
					s.remove(server)
				}
				<-ticker.C
			}
		})
	}
}

// awaitEndpoints waits until exactly these servers are the endpoints.
func (s *service) awaitEndpoints(t *testing.T, servers ...*replica) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "the service leads to those servers that it should", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, server := range servers {
			if !slices.Contains(s.endpoints, server) {
				return fmt.Errorf("server %s is not an endpoint", server.name)
			}
		}
		if len(s.endpoints) != len(servers) {
			return fmt.Errorf("there are %d endpoints", len(s.endpoints))
		}
		return nil
	})
}

// awaitNoConnections waits until the last connection to the server has ended.
func (s *service) awaitNoConnections(t *testing.T, server *replica) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "there is no connection to server "+server.name, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if count := s.connections[server]; count > 0 {
			return fmt.Errorf("there are %d connections", count)
		}
		return nil
	})
}

// leadTo changes the APIService to the service, and waits until a request through kube-apiserver has reached one of the servers.
// Until kube-apiserver observes the change, the former server responds.
func leadTo(t *testing.T, p *framework.ControlPlane, s *service, servers []*replica) {
	t.Helper()
	patchAPIService(t, p, fmt.Sprintf(`{"spec":{"service":{"port":%d}}}`, s.port()))
	boxes := p.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	attempt := 0
	framework.Eventually(t, framework.Patience, "a request reaches one of the servers", func() error {
		attempt++
		// The audit log only has writes. This write changes nothing.
		name := fmt.Sprintf("no-box-%d-%d", s.port(), attempt)
		err := boxes.Delete(t.Context(), name, metav1.DeleteOptions{})
		for _, server := range servers {
			if log, readErr := os.ReadFile(server.auditLog); readErr == nil && bytes.Contains(log, []byte(name)) {
				return nil
			}
		}
		return fmt.Errorf("no server has received the request: %w", err)
	})
}
