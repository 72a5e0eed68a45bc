// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package frontproxy

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// nameless wraps the attributes of a request. Its name is empty, which means every object.
type nameless struct{ authorizer.Attributes }

func (nameless) GetName() string { return "" }

// NewAuthorizer returns an authorizer for requests that a front proxy has already authorized. It first asks delegate for the
// permission on every object, and only without that for the permission on the named object. One decision, which delegate caches, is
// then enough for requests for many objects of a namespace. It passes all other requests to delegate unchanged.
//
// If an authorizer denies access to some objects by name, delegate does not get these names. The front proxy, which has asked with
// the name, must refuse such a request.
func NewAuthorizer(delegate authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		if attributes.GetName() != "" && isAuthorized(ctx, attributes) {
			if decision, reason, err := delegate.Authorize(ctx, nameless{attributes}); decision == authorizer.DecisionAllow || err != nil {
				return decision, reason, err
			}
		}
		return delegate.Authorize(ctx, attributes)
	})
}

// isAuthorized returns whether a front proxy has authorized exactly these attributes. It has not authorized, for example, the
// permission to create for an update that creates an object.
func isAuthorized(ctx context.Context, attributes authorizer.Attributes) bool {
	if _, isProxied := attributes.GetUser().(proxiedUser); !isProxied {
		return false
	}
	info, ok := request.RequestInfoFrom(ctx)
	return ok && info.IsResourceRequest && attributes.IsResourceRequest() &&
		info.Verb == attributes.GetVerb() && info.Namespace == attributes.GetNamespace() && info.Name == attributes.GetName() &&
		info.APIGroup == attributes.GetAPIGroup() && info.APIVersion == attributes.GetAPIVersion() &&
		info.Resource == attributes.GetResource() && info.Subresource == attributes.GetSubresource()
}
