// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
)

// addClientCACheck keeps the server from being ready before it has read from the cluster whose client certificates to
// trust. Until then everybody is anonymous, the aggregation layer included, and would be refused.
func addClientCACheck(config *genericapiserver.Config) {
	ca := config.SecureServing.ClientCA
	if ca == nil {
		return
	}
	config.AddReadyzChecks(healthz.NamedCheck("client-ca", func(*http.Request) error {
		if len(ca.CurrentCABundleContent()) == 0 {
			return errors.New("the CA of client certificates has not been read from the cluster yet")
		}
		return nil
	}))
}
