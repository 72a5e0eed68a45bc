// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// permissions asks the cluster what the users of requests may do.
type permissions struct {
	authorizer authorizer.UnconditionalAuthorizer
}

// checkBox returns 403 unless the user of the request may do that with the subresource of the box.
func (p permissions) checkBox(ctx context.Context, verb, name, subresource string) error {
	return p.check(ctx, verb, modelv1.SchemeGroupVersion.WithResource("modelboxes"), name, subresource)
}

// checkPod returns 403 unless the user of the request has the permission for the subresource of this pod.
func (p permissions) checkPod(ctx context.Context, verb, name, subresource string) error {
	return p.check(ctx, verb, corev1.SchemeGroupVersion.WithResource("pods"), name, subresource)
}

// check words its refusals as an API server does, and returns 503 where the cluster cannot be asked.
func (p permissions) check(ctx context.Context, verb string, resource schema.GroupVersionResource, name, subresource string) error {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errors.New("the user of the request is not known"))
	}
	namespace := genericapirequest.NamespaceValue(ctx)
	decision, reason, err := p.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            user,
		Verb:            verb,
		Namespace:       namespace,
		APIGroup:        resource.Group,
		APIVersion:      resource.Version,
		Resource:        resource.Resource,
		Subresource:     subresource,
		Name:            name,
		ResourceRequest: true,
	})
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return apierrors.NewServiceUnavailable(fmt.Sprintf("asking the cluster for the rights of user %q: %v", user.GetName(), err))
	}
	refusal := fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q",
		user.GetName(), verb, resource.Resource+"/"+subresource, resource.Group, namespace)
	if reason != "" {
		refusal += ": " + reason
	}
	return apierrors.NewForbidden(resource.GroupResource(), name, errors.New(refusal))
}

// checkConnect returns 403 unless the user of the request may connect to the subresource of the box. A WebSocket begins with a
// GET, which the right to read would be enough for: as the API server of Kubernetes does, it asks for the right to create as well.
func (p permissions) checkConnect(ctx context.Context, box, subresource string) error {
	for _, verb := range connectVerbs(ctx) {
		if err := p.checkBox(ctx, verb, box, subresource); err != nil {
			return err
		}
	}
	return nil
}

// checkConnectPod is checkConnect for a pod.
func (p permissions) checkConnectPod(ctx context.Context, pod, subresource string) error {
	for _, verb := range connectVerbs(ctx) {
		if err := p.checkPod(ctx, verb, pod, subresource); err != nil {
			return err
		}
	}
	return nil
}

// connectVerbs returns the verbs that a connection needs: the verb of the request, and create.
func connectVerbs(ctx context.Context) []string {
	if info, ok := genericapirequest.RequestInfoFrom(ctx); ok && info.Verb != "create" {
		return []string{info.Verb, "create"}
	}
	return []string{"create"}
}
