// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// newCA issues a self-signed CA.
func newCA(now time.Time, lifetime time.Duration) (*pki.KeyPair, error) {
	// The name differs from the name of the former CA, so that a client need not try both.
	return pki.NewCA(fmt.Sprintf("modelbox-apiserver-ca@%d", now.Unix()), now, lifetime)
}

// newServing issues a serving certificate for DNS names and IP addresses. It does not outlive its CA.
func newServing(ca *pki.KeyPair, hosts []string, now time.Time, lifetime time.Duration) (*pki.KeyPair, error) {
	return ca.Issue(pki.Subject{
		CommonName: "modelbox-apiserver",
		Hosts:      hosts,
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, now, lifetime)
}
