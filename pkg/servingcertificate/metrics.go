// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const metricsSubsystem = "modelbox_serving_certificate"

var (
	expiration = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "expiration_timestamp_seconds",
		Help:           "Time at which the certificate expires, in seconds since the epoch. serving is the serving certificate of this server, issued or from a file. ca is the CA that signs issued certificates.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"certificate"})
	rotations = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "rotations_total",
		Help:           "Number of certificates that this server issued for all servers, including the first ones: serving or ca.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"certificate"})
	bundleWrites = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "ca_bundle_writes_total",
		Help:           "Number of times that this server wrote the caBundle of the APIService.",
		StabilityLevel: metrics.ALPHA,
	})
)

// registerExpiration registers the metric of every certificate that clients verify.
var registerExpiration = sync.OnceFunc(func() { legacyregistry.MustRegister(expiration) })

// registerMetrics registers all metrics, with a series for every value of a label, so that the first count is an increase from 0.
var registerMetrics = sync.OnceFunc(func() {
	registerExpiration()
	legacyregistry.MustRegister(rotations, bundleWrites)
	for _, certificate := range []string{servingLabel, caLabel} {
		rotations.WithLabelValues(certificate)
	}
})

// The values of the label certificate.
const (
	servingLabel = "serving"
	caLabel      = "ca"
)

func setExpiration(label string, certificate *x509.Certificate) {
	expiration.WithLabelValues(label).Set(float64(certificate.NotAfter.Unix()))
}

func countRotations(changes []change) {
	for _, done := range changes {
		switch done {
		case issuedAll:
			rotations.WithLabelValues(caLabel).Inc()
			rotations.WithLabelValues(servingLabel).Inc()
		case issuedNextCA:
			rotations.WithLabelValues(caLabel).Inc()
		case issuedServing:
			rotations.WithLabelValues(servingLabel).Inc()
		}
	}
}
