// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// newCA issues a CA that signs itself.
func newCA(now time.Time, lifetime time.Duration) (*pki.KeyPair, error) {
	// Another name than that of the CA before: a verifier need not try both.
	return pki.NewCA(fmt.Sprintf("modelbox-apiserver-ca@%d", now.Unix()), now, lifetime)
}

// newServing issues a serving certificate for the hosts, DNS names and IP addresses. It does not outlive the CA that signs it.
func newServing(ca *pki.KeyPair, hosts []string, now time.Time, lifetime time.Duration) (*pki.KeyPair, error) {
	return ca.Issue(pki.Subject{
		CommonName: "modelbox-apiserver",
		Hosts:      hosts,
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, now, lifetime)
}
