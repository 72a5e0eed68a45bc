// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// A user may restart and roll back web, and may not update it. An admission plugin that checks the permission to update the box
// must not find that the request is authorized for it already.
func TestSubresourcesAreNotAuthorizedAsUpdates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		subresource string
		create      func(ctx context.Context, storage *testStorage, admit admission.Interface) error
	}{
		{"restart", func(ctx context.Context, storage *testStorage, admit admission.Interface) error {
			restart, _ := newRestart(t, storage, admit)
			_, err := restart.Create(ctx, "web", &model.ModelBoxRestart{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			return err
		}},
		{"rollback", func(ctx context.Context, storage *testStorage, admit admission.Interface) error {
			box := get(t, storage)
			rollback, _ := newRollback(storage, admit, revisionOf(t, box, 1, withImage("nginx:1")), revisionOf(t, box, 2, withImage("nginx:2")))
			_, err := rollback.Create(ctx, "web", &model.ModelBoxRollback{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			return err
		}},
	} {
		t.Run(row.subresource, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox())
			guard := &updateGuard{Handler: admission.NewHandler(admission.Update)}
			ctx := genericapirequest.WithUser(inDefault(t), &user.DefaultInfo{Name: "anna"})
			ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
				IsResourceRequest: true, Verb: "create", Namespace: metav1.NamespaceDefault, Name: "web",
				APIGroup: "model.github.com", APIVersion: "v1", Resource: "modelboxes", Subresource: row.subresource,
			})
			if err := row.create(ctx, storage, guard); !apierrors.IsForbidden(err) {
				t.Errorf("got %v, want 403", err)
			}
			if diff := cmp.Diff(before, get(t, storage)); diff != "" {
				t.Errorf("the box, -before +after:\n%s", diff)
			}
			if want := "create modelboxes/" + row.subresource; guard.authorized != want {
				t.Errorf("the request was authorized for %q, want %q", guard.authorized, want)
			}
		})
	}
}

// updateGuard is an admission plugin that lets a user update a box only if the request has been authorized for the update.
type updateGuard struct {
	*admission.Handler
	// authorized is the verb and the resource that the request has been authorized for.
	authorized string
}

func (g *updateGuard) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	request, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return err
	}
	g.authorized = request.GetVerb() + " " + request.GetResource() + "/" + request.GetSubresource()
	if request.GetVerb() == "update" && request.GetSubresource() == a.GetSubresource() && request.GetName() == a.GetName() {
		return nil
	}
	return admission.NewForbidden(a, errors.New("the user may not update the box"))
}
