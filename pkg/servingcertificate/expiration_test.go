// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/component-base/metrics/testutil"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

func TestExpirationOfFilesIsMeasuredAgainWhenTheyChange(t *testing.T) {
	folder := t.TempDir()
	certificateFile, keyFile := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	write := func(lifetime time.Duration) *pki.KeyPair {
		t.Helper()
		ca, err := pki.NewCA("ca", time.Now(), 365*day)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := ca.Issue(pki.Subject{CommonName: host, Hosts: []string{host}}, time.Now(), lifetime)
		if err != nil {
			t.Fatal(err)
		}
		certificate, key, err := pair.Encode()
		if err != nil {
			t.Fatal(err)
		}
		signer, _, err := ca.Encode()
		if err != nil {
			t.Fatal(err)
		}
		// As some write them: with the certificate of who signed it, which is another one.
		for file, content := range map[string][]byte{certificateFile: append(certificate, signer...), keyFile: key} {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return pair
	}
	expect := func(pair *pki.KeyPair) {
		t.Helper()
		got, err := testutil.GetGaugeMetricValue(expiration.WithLabelValues(servingLabel))
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(pair.Certificate.NotAfter.Unix()); got != want {
			t.Errorf("it expires at %v, want %v", got, want)
		}
	}

	first := write(10 * day)
	files, err := dynamiccertificates.NewDynamicServingContentFromFiles("test", certificateFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := MeasureExpiration(files); err != nil {
		t.Fatal(err)
	}
	expect(first)

	second := write(20 * day)
	if err := files.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(second)
}

func TestExpirationOfNoCertificateIsAnError(t *testing.T) {
	err := MeasureExpiration(&served{certificate: []byte("none")})
	if err == nil || !strings.Contains(err.Error(), "issued-serving-cert") {
		t.Errorf("got %v, want an error that names the source", err)
	}
}
