// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package frontproxy

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// nameless are attributes of a request for any object instead of the one that it names.
type nameless struct{ authorizer.Attributes }

func (nameless) GetName() string { return "" }

// NewAuthorizer returns an authorizer for requests that a front proxy has authorized already. It asks delegate whether the user may
// do the same with every object, and only if not, whether with this one. So one answer, which delegate remembers, is enough for all
// objects of a namespace, and requests for many of them do not each wait for an answer of their own. It passes all other requests
// to delegate unchanged.
//
// The drawback: if a user may do something with every object but some, delegate does not learn the name of the object. The front
// proxy, which has asked with the name, must refuse such a request.
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

// isAuthorized returns whether a front proxy has authorized exactly these attributes. It has not authorized others, such as the
// create for a user who updates an object.
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
