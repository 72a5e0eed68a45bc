// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

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

const probeTimeout = 2 * time.Second

// HTTPSProbe returns a check whether a server on this machine answers path with
// 200, under a certificate that ca issued.
func HTTPSProbe(port int, path string, ca []byte) func(context.Context) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		// A restarted server must be asked anew.
		DisableKeepAlives: true,
	}
	return probe(transport, fmt.Sprintf("https://127.0.0.1:%d%s", port, path))
}

// unixProbe is HTTPSProbe for plain HTTP over a unix socket.
func unixProbe(socket, path string) func(context.Context) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		// A socket's path is limited to 107 bytes. The folder's may be longer,
		// so it is named by a descriptor.
		folder, err := os.Open(filepath.Dir(socket))
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		short := fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(socket))
		return new(net.Dialer).DialContext(ctx, "unix", short)
	}
	return probe(&http.Transport{DialContext: dial, DisableKeepAlives: true}, "http://localhost"+path)
}

func probe(transport http.RoundTripper, url string) func(context.Context) error {
	client := &http.Client{Transport: transport, Timeout: probeTimeout}
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
