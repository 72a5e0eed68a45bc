// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// served is the certificate that this server serves with, and the reason if clients cannot trust it.
type served struct {
	mu               sync.RWMutex
	certificate, key []byte
	// leaf is the certificate, nil as long as no client can trust it.
	leaf      *x509.Certificate
	listeners []dynamiccertificates.Listener
	// loadError is why the server has no certificate that clients can trust, and trustError is why they may not trust it yet.
	loadError, trustError error
	// wasTrusted is set as soon as the cluster trusts the certificate, and stays.
	wasTrusted bool
}

// load lets the server serve with another certificate from the next connection on. It returns whether it is another one.
func (s *served) load(pair *pki.KeyPair) (bool, error) {
	certificate, key, err := pair.Encode()
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	s.leaf, s.loadError = pair.Certificate, nil
	isNew := !bytes.Equal(s.certificate, certificate)
	s.certificate, s.key = certificate, key
	listeners := s.listeners
	s.mu.Unlock()
	if isNew {
		for _, listener := range listeners {
			listener.Enqueue()
		}
	}
	return isNew, nil
}

func (s *served) isLoaded() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.leaf != nil
}

func (s *served) setLoadError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loadError = err
}

// setTrust says whether the cluster trusts the certificate, which nil stands for.
func (s *served) setTrust(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trustError, s.wasTrusted = err, s.wasTrusted || err == nil
}

// Check returns why clients cannot trust this server, for its readiness. It ignores later errors of an APIService that was right
// once: no other server would do better.
func (s *served) Check(*http.Request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.leaf == nil && s.loadError != nil:
		return s.loadError
	case s.leaf == nil:
		return errors.New("there is no serving certificate yet")
	case isExpired(s.leaf, time.Now()):
		return errors.Join(fmt.Errorf("the serving certificate has expired at %s", s.leaf.NotAfter.Format(time.RFC3339)), s.loadError)
	case !s.wasTrusted && s.trustError != nil:
		return s.trustError
	case !s.wasTrusted:
		return errors.New("the cluster does not trust the serving certificate yet")
	}
	return nil
}

// Name is what logs call the certificate.
func (s *served) Name() string { return "issued-serving-cert" }

// CurrentCertKeyContent returns what to serve with, in PEM.
func (s *served) CurrentCertKeyContent() (certificate, key []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.certificate, s.key
}

// AddListener adds a listener that is called for every change.
func (s *served) AddListener(listener dynamiccertificates.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, listener)
}
