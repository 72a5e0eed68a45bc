// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package requester knows what the user of a request may do.
package requester

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Can returns whether the user of the request may do something to all objects of a resource in a namespace. It returns false if the
// authorizer fails, or if the request has no user.
func Can(ctx context.Context, a authorizer.UnconditionalAuthorizer, verb string, resource schema.GroupVersionResource, namespace string) bool {
	return CanObject(ctx, a, verb, resource, namespace, "")
}

// CanObject is Can for the object of the name.
func CanObject(ctx context.Context, a authorizer.UnconditionalAuthorizer, verb string, resource schema.GroupVersionResource, namespace, name string) bool {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false
	}
	decision, _, _ := a.Authorize(ctx, authorizer.AttributesRecord{
		User:            user,
		Verb:            verb,
		Namespace:       namespace,
		APIGroup:        resource.Group,
		APIVersion:      resource.Version,
		Resource:        resource.Resource,
		Name:            name,
		ResourceRequest: true,
	})
	return decision == authorizer.DecisionAllow
}
