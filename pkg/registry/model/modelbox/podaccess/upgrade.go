// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	apirest "k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/transport"
)

const (
	// dialTimeout is how long the cluster may take to accept a connection.
	dialTimeout = 10 * time.Second
	// bearerProtocol is the prefix of the "protocol" of a WebSocket that is a token of the user.
	bearerProtocol = "base64url.bearer.authorization.k8s.io."
	protocolHeader = "Sec-Websocket-Protocol"
)

// streamHeaders are the headers by which the two ends agree on a protocol. The server passes no other header of the user to the
// cluster, for which the request is a request of the server: no header for a proxy, and none that would make it a request of
// another user.
var streamHeaders = []string{
	"Connection",
	"Upgrade",
	"Sec-Websocket-Extensions",
	"Sec-Websocket-Key",
	protocolHeader,
	"Sec-Websocket-Version",
	"X-Forwarded-For",
	"X-Stream-Protocol-Version",
}

// serveUpgrade joins the connection of the request with one to the location, until one of them ends or the context of the request
// is done.
func (a *Access) serveUpgrade(w http.ResponseWriter, r *http.Request, location *url.URL, responder apirest.Responder) {
	upgrade, err := a.upgradeTransport()
	if err != nil {
		responder.Error(apierrors.NewInternalError(err))
		return
	}
	handler := proxy.NewUpgradeAwareHandler(location, upgrade, false, true, proxy.NewErrorResponder(responder))
	handler.UpgradeTransport = upgrade
	handler.UseLocationHost = true
	request := r.Clone(r.Context())
	request.Header = headerForCluster(r)
	handler.ServeHTTP(w, request)
}

// upgradeTransport returns what opens a connection to the cluster, which ends with the context of its request. It is a new one
// each time, so that it has the certificates that are in files now.
func (a *Access) upgradeTransport() (proxy.UpgradeRequestRoundTripper, error) {
	config, err := a.config.TransportConfig()
	if err != nil {
		return nil, fmt.Errorf("reading how to reach the cluster: %w", err)
	}
	tlsConfig, err := transport.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates for the cluster: %w", err)
	}
	authenticate, err := transport.HTTPWrappersForConfig(config, proxy.MirrorRequest)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials for the cluster: %w", err)
	}
	connect := utilnet.SetOldTransportDefaults(&http.Transport{TLSClientConfig: tlsConfig, DialContext: dial})
	return proxy.NewUpgradeRequestRoundTripper(connect, authenticate), nil
}

// dial returns a connection that is closed when ctx is done.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn, nil
}

// headerForCluster returns the header of the request to the cluster. It has the audit ID of this request, so that audit events of
// the cluster can be matched with events of this server, which have the user.
func headerForCluster(r *http.Request) http.Header {
	header := http.Header{}
	for _, key := range streamHeaders {
		if values := r.Header.Values(key); len(values) > 0 {
			header[key] = values
		}
	}
	if protocols := withoutTokens(r.Header.Values(protocolHeader)); len(protocols) > 0 {
		header.Set(protocolHeader, strings.Join(protocols, ", "))
	} else {
		header.Del(protocolHeader)
	}
	if id := audit.GetAuditIDTruncated(r.Context()); id != "" {
		header.Set(auditinternal.HeaderAuditID, id)
	}
	return header
}

// withoutTokens returns the protocols of a WebSocket without those that are tokens.
func withoutTokens(values []string) []string {
	var protocols []string
	for _, value := range values {
		for protocol := range strings.SplitSeq(value, ",") {
			if protocol = strings.TrimSpace(protocol); protocol != "" && !strings.HasPrefix(protocol, bearerProtocol) {
				protocols = append(protocols, protocol)
			}
		}
	}
	return protocols
}
