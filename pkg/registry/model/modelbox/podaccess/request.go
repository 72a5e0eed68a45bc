// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/rest"
)

// warningCode is the code of the warnings of an API server.
const warningCode = 299

// forRequests returns the configuration for requests to the cluster that are made for one of a user: they have its audit ID, and
// the user gets the warnings about them.
func forRequests(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &auditIDRoundTripper{next} })
	config.WarningHandlerWithContext = passWarnings{}
	return config
}

// auditIDRoundTripper gives requests the audit ID of the request that they are made for, where they are made for one.
type auditIDRoundTripper struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = &auditIDRoundTripper{}

func (t *auditIDRoundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if id := audit.GetAuditIDTruncated(request.Context()); id != "" {
		request = request.Clone(request.Context())
		request.Header.Set(auditinternal.HeaderAuditID, id)
	}
	return t.next.RoundTrip(request)
}

func (t *auditIDRoundTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// passWarnings passes warnings on to the user of the request that a request is made for.
type passWarnings struct{}

func (passWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if code == warningCode && text != "" {
		warning.AddWarning(ctx, agent, text)
	}
}
