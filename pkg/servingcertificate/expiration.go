// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"fmt"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
)

// MeasureExpiration sets the metric of the expiration to the certificate of the source, now and after each change. It is for
// certificates that the server does not issue: a Controller sets the metric itself.
func MeasureExpiration(source dynamiccertificates.CertKeyContentProvider) error {
	registerExpiration()
	m := &measurement{source}
	if err := m.update(); err != nil {
		return err
	}
	source.AddListener(m)
	return nil
}

// measurement is a listener for changes of the certificate.
type measurement struct {
	source dynamiccertificates.CertKeyContentProvider
}

var _ dynamiccertificates.Listener = &measurement{}

// Enqueue implements dynamiccertificates.Listener. It sets the metric to the current certificate.
func (m *measurement) Enqueue() {
	if err := m.update(); err != nil {
		klog.Background().Error(err, "Cannot measure the expiration of the serving certificate")
	}
}

func (m *measurement) update() error {
	content, _ := m.source.CurrentCertKeyContent()
	chain, err := certutil.ParseCertsPEM(content)
	if err != nil {
		return fmt.Errorf("reading %s: %w", m.source.Name(), err)
	}
	setExpiration(servingLabel, chain[0])
	return nil
}
