// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serving has what the server serves with: certificates of its own.
package serving

import (
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// loopbackLifetime is longer than any process runs: what it is connected to itself by need not be renewed.
const loopbackLifetime = 100 * 365 * 24 * time.Hour

// ApplySecureServing does what the secure serving options do, with a certificate for the connections of the server to itself that
// takes a millisecond to make. Theirs has an RSA key, for which prime numbers are looked for, at every start.
func ApplySecureServing(serving *genericoptions.SecureServingOptions, config *genericapiserver.Config) error {
	if err := serving.ApplyTo(&config.SecureServing); err != nil {
		return fmt.Errorf("applying the secure serving options: %w", err)
	}
	if config.SecureServing == nil {
		return nil
	}
	ca, certificate, key, err := newLoopbackCertificate()
	if err != nil {
		return fmt.Errorf("issuing the certificate of loopback connections: %w", err)
	}
	content, err := dynamiccertificates.NewStaticSNICertKeyContent("loopback", certificate, key, genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return fmt.Errorf("reading the certificate of loopback connections: %w", err)
	}
	// The first one of a name is served.
	config.SecureServing.SNICerts = append([]dynamiccertificates.SNICertKeyContentProvider{content}, config.SecureServing.SNICerts...)
	config.LoopbackClientConfig, err = config.SecureServing.NewLoopbackClientConfig(string(uuid.NewUUID()), ca)
	if err != nil {
		return fmt.Errorf("configuring loopback connections: %w", err)
	}
	return nil
}

// newLoopbackCertificate returns a CA, and a certificate that it has signed with its key, all in PEM.
func newLoopbackCertificate() (ca, certificate, key []byte, err error) {
	now := time.Now()
	issuer, err := pki.NewCA("loopback", now, loopbackLifetime)
	if err != nil {
		return nil, nil, nil, err
	}
	issued, err := issuer.Issue(pki.Subject{
		CommonName: genericapiserver.LoopbackClientServerNameOverride,
		Hosts:      []string{genericapiserver.LoopbackClientServerNameOverride},
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, now, loopbackLifetime)
	if err != nil {
		return nil, nil, nil, err
	}
	if ca, _, err = issuer.Encode(); err != nil {
		return nil, nil, nil, err
	}
	certificate, key, err = issued.Encode()
	return ca, certificate, key, err
}
