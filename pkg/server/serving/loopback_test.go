// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

// TestLoopbackCertificateIsTrusted: the client of the server's own connections trusts what they are served with, for long.
func TestLoopbackCertificateIsTrusted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	serving := genericoptions.NewSecureServingOptions()
	serving.Listener, serving.ServerCert.CertDirectory = listener, t.TempDir()
	config := genericapiserver.NewConfig(apiserver.Codecs)
	if err := ApplySecureServing(serving, config); err != nil {
		t.Fatal(err)
	}

	served := config.SecureServing.SNICerts[0]
	if got := served.SNINames(); len(got) != 1 || got[0] != config.LoopbackClientConfig.ServerName {
		t.Errorf("it is served for %q, want %q", got, config.LoopbackClientConfig.ServerName)
	}
	pair, err := tls.X509KeyPair(served.CurrentCertKeyContent())
	if err != nil {
		t.Fatal(err)
	}
	trust, err := rest.TLSConfigFor(config.LoopbackClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []time.Time{time.Now(), time.Now().AddDate(50, 0, 0)} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: config.LoopbackClientConfig.ServerName, Roots: trust.RootCAs, CurrentTime: when})
		if err != nil {
			t.Errorf("at %s: %v", when, err)
		}
	}
}
