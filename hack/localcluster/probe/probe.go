// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package probe checks whether servers are ready.
package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Timeout is the timeout for a response of a server.
const Timeout = 2 * time.Second

// HTTPS returns a check that a server on this machine responds to path with 200, with a certificate that ca has issued.
func HTTPS(port int, path string, ca []byte) func(context.Context) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		// Use a new connection, because the server may have been restarted.
		DisableKeepAlives: true,
	}
	return get(transport, fmt.Sprintf("https://127.0.0.1:%d%s", port, path))
}

// HTTP returns a check that a server responds to url with 200.
func HTTP(url string) func(context.Context) error {
	return get(&http.Transport{DisableKeepAlives: true}, url)
}

// UnixHTTP is like HTTP, over a unix socket.
func UnixHTTP(socket, path string) func(context.Context) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialUnix(ctx, socket)
	}
	return get(&http.Transport{DialContext: dial, DisableKeepAlives: true}, "http://localhost"+path)
}

// Unix returns a check that a server listens on a unix socket.
func Unix(socket string) func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := dialUnix(ctx, socket)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

func dialUnix(ctx context.Context, socket string) (net.Conn, error) {
	// The path of a socket has at most 107 bytes. The path of its directory may be longer. Therefore, use a file descriptor of the
	// directory.
	folder, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	short := fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(socket))
	return new(net.Dialer).DialContext(ctx, "unix", short)
}

func get(transport http.RoundTripper, url string) func(context.Context) error {
	client := &http.Client{Transport: transport, Timeout: Timeout}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s: %s", url, response.Status, body)
		}
		return nil
	}
}
