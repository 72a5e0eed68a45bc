// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"slices"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// rotation has the rules for issuing and renewing certificates.
type rotation struct {
	// hosts are DNS names and IP addresses of the servers.
	hosts                []string
	lifetime, caLifetime time.Duration
}

// change is a change that rotate makes, as messages for users name it.
type change string

const (
	issuedAll       change = "issued a CA and a serving certificate"
	issuedNextCA    change = "issued the next CA, which will sign after the cluster trusts it"
	promotedNextCA  change = "replaced the CA by the next CA"
	issuedServing   change = "issued a serving certificate"
	removedExpired  change = "removed an expired CA"
	removedUnusable change = "removed the next CA, which expired before it signed"
)

// rotate returns the certificates that replace the current ones, and the changes. current is nil if there are no certificates. It
// returns current and no changes if nothing is due. isNextTrusted is true if the next CA may sign.
func (r *rotation) rotate(current *certificates, now time.Time, isNextTrusted bool) (*certificates, []change, error) {
	if current == nil {
		issued, err := r.issueAll(now)
		return issued, []change{issuedAll}, err
	}
	rotated, changes := *current, []change(nil)
	if next := rotated.next; next != nil && isExpired(next.Certificate, now) {
		rotated.next = nil
		changes = append(changes, removedUnusable)
	}
	if rotated.next == nil && !now.Before(pki.RenewalTime(rotated.signer.Certificate, r.caLifetime)) {
		next, err := newCA(now, r.caLifetime)
		if err != nil {
			return nil, nil, err
		}
		rotated.next, rotated.trusted = next, append(slices.Clip(rotated.trusted), next.Certificate)
		changes = append(changes, issuedNextCA)
		isNextTrusted = false
	}
	// No client trusts an expired CA. A new CA does no harm.
	if rotated.next != nil && (isNextTrusted || isExpired(rotated.signer.Certificate, now)) {
		rotated.signer, rotated.next = rotated.next, nil
		changes = append(changes, promotedNextCA)
	}
	if hosts := r.servingHosts(&rotated, now); len(hosts) > 0 {
		serving, err := newServing(rotated.signer, hosts, now, r.lifetime)
		if err != nil {
			return nil, nil, err
		}
		rotated.serving = serving
		changes = append(changes, issuedServing)
	}
	if trusted := rotated.withoutExpired(now); len(trusted) < len(rotated.trusted) {
		rotated.trusted = trusted
		changes = append(changes, removedExpired)
	}
	if len(changes) == 0 {
		return current, nil, nil
	}
	return &rotated, changes, nil
}

func (r *rotation) issueAll(now time.Time) (*certificates, error) {
	ca, err := newCA(now, r.caLifetime)
	if err != nil {
		return nil, err
	}
	serving, err := newServing(ca, r.hosts, now, r.lifetime)
	if err != nil {
		return nil, err
	}
	return &certificates{trusted: []*x509.Certificate{ca.Certificate}, signer: ca, serving: serving}, nil
}

// servingHosts returns the hosts of the serving certificate to issue, empty if the current certificate needs no renewal.
func (r *rotation) servingHosts(c *certificates, now time.Time) []string {
	serving := c.serving.Certificate
	if missing := slices.DeleteFunc(slices.Clone(r.hosts), func(host string) bool {
		return serving.VerifyHostname(host) == nil
	}); len(missing) > 0 {
		// Keep the other hosts: servers with other flags may need them, and would otherwise issue the certificate again.
		return append(hostsOf(serving), missing...)
	}
	isOfSigner := serving.CheckSignatureFrom(c.signer.Certificate) == nil
	if !isOfSigner || !now.Before(r.servingRenewalTime(c)) {
		return r.hosts
	}
	return nil
}

func hostsOf(certificate *x509.Certificate) []string {
	hosts := slices.Clone(certificate.DNSNames)
	for _, ip := range certificate.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}

// withoutExpired returns the trusted CAs that have not expired, and the CA that signs.
func (c *certificates) withoutExpired(now time.Time) []*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(c.trusted), func(ca *x509.Certificate) bool {
		return isExpired(ca, now) && ca != c.signer.Certificate
	})
}

// nextTime returns the time of the next change by rotate, apart from the time at which the next CA may sign.
func (r *rotation) nextTime(c *certificates) time.Time {
	next := r.servingRenewalTime(c)
	if c.next == nil {
		next = earliest(next, pki.RenewalTime(c.signer.Certificate, r.caLifetime))
	}
	for _, ca := range c.trusted {
		next = earliest(next, ca.NotAfter)
	}
	return next
}

// servingRenewalTime returns the time to renew the serving certificate. If the certificate expires with its CA, this is the time at
// which the CA expires, because a new certificate would not be valid for longer.
func (r *rotation) servingRenewalTime(c *certificates) time.Time {
	if end := c.signer.Certificate.NotAfter; !c.serving.Certificate.NotAfter.Before(end) {
		return end
	}
	return pki.RenewalTime(c.serving.Certificate, r.lifetime)
}

func isExpired(certificate *x509.Certificate, now time.Time) bool {
	return now.After(certificate.NotAfter)
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
