// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
)

func TestServingCertificateIsTrustedForItsHostsOnly(t *testing.T) {
	authority, err := NewAuthority("test-ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.IssueServer("server", "localhost", "127.0.0.1", "a.b.svc")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := NewAuthority("test-ca")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		host    string
		roots   *Authority
		trusted bool
	}{
		{"a DNS name it was issued for", "localhost", authority, true},
		{"a service name it was issued for", "a.b.svc", authority, true},
		{"an address it was issued for", "127.0.0.1", authority, true},
		{"another name", "example.org", authority, false},
		{"another authority of the same name", "localhost", stranger, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := verify(t, pair, test.roots, x509.VerifyOptions{DNSName: test.host})
			if trusted := err == nil; trusted != test.trusted {
				t.Errorf("trusted = %t, want %t (%v)", trusted, test.trusted, err)
			}
		})
	}
}

func TestClientCertificateNamesUserAndGroups(t *testing.T) {
	authority, err := NewAuthority("test-ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.IssueClient("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	clientAuth := x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if err := verify(t, pair, authority, clientAuth); err != nil {
		t.Errorf("not usable by a client: %v", err)
	}
	if err := verify(t, pair, authority, x509.VerifyOptions{}); err == nil {
		t.Error("usable by a server")
	}
	certificate, err := parseCertificate(pair.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if got := certificate.Subject.String(); got != "CN=admin,O=system:masters" {
		t.Errorf("subject = %q", got)
	}
}

func verify(t *testing.T, pair Pair, roots *Authority, options x509.VerifyOptions) error {
	t.Helper()
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Fatalf("certificate and key do not belong together: %v", err)
	}
	certificate, err := parseCertificate(pair.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	options.Roots = x509.NewCertPool()
	options.Roots.AppendCertsFromPEM(roots.Certificate)
	_, err = certificate.Verify(options)
	return err
}
