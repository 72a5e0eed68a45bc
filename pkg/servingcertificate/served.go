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

// served has the serving certificate of this server, and the reason if clients cannot trust it. It is safe for concurrent use.
type served struct {
	mu               sync.RWMutex
	certificate, key []byte
	// leaf is the certificate, nil until there is a certificate that clients can trust.
	leaf      *x509.Certificate
	listeners []dynamiccertificates.Listener
	// loadError is the error of loading the certificate. trustError is the reason why clients may not trust it yet.
	loadError, trustError error
	// wasTrusted is true after the cluster has trusted the certificate once.
	wasTrusted bool
}

// load sets the certificate for new connections. It returns whether the certificate has changed.
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

// setTrust sets the reason why the cluster does not trust the certificate, nil if it does.
func (s *served) setTrust(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trustError, s.wasTrusted = err, s.wasTrusted || err == nil
}

// Check implements healthz.HealthChecker. It returns the reason why clients cannot trust this server. After the cluster has trusted
// the certificate once, it ignores errors of the APIService, because they affect all servers alike.
func (s *served) Check(*http.Request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.leaf == nil && s.loadError != nil:
		return s.loadError
	case s.leaf == nil:
		return errors.New("there is no serving certificate yet")
	case isExpired(s.leaf, time.Now()):
		return errors.Join(fmt.Errorf("the serving certificate expired at %s", s.leaf.NotAfter.Format(time.RFC3339)), s.loadError)
	case !s.wasTrusted && s.trustError != nil:
		return s.trustError
	case !s.wasTrusted:
		return errors.New("the cluster does not trust the serving certificate yet")
	}
	return nil
}

// Name returns the name of the certificate for logs.
func (s *served) Name() string { return "issued-serving-cert" }

// CurrentCertKeyContent returns the certificate and the private key as PEM.
func (s *served) CurrentCertKeyContent() (certificate, key []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.certificate, s.key
}

// AddListener adds a listener for changes of the certificate.
func (s *served) AddListener(listener dynamiccertificates.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, listener)
}
