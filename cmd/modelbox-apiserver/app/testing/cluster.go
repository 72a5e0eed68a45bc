// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
)

// emptyLists are the collections that a server must read before it serves. They are empty, and the cluster has no others.
// Controllers, which read pods as well, wait for these forever.
var emptyLists = map[string]metav1.TypeMeta{
	"/api/v1/namespaces":                    {APIVersion: "v1", Kind: "NamespaceList"},
	"/api/v1/resourcequotas":                {APIVersion: "v1", Kind: "ResourceQuotaList"},
	"/apis/apps/v1/deployments":             {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	"/apis/apps/v1/statefulsets":            {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	"/apis/apps/v1/daemonsets":              {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	"/apis/batch/v1/jobs":                   {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	"/apis/batch/v1/cronjobs":               {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	"/apis/apps/v1/controllerrevisions":     {APIVersion: "apps/v1", Kind: "ControllerRevisionList"},
	"/apis/admissionregistration.k8s.io/v1": {APIVersion: "v1", Kind: "APIResourceList"},
	"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations":   {APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfigurationList"},
	"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfigurationList"},
	"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas":                     {APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: "FlowSchemaList"},
	"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations":     {APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: "PriorityLevelConfigurationList"},
}

// invalidToken is the only token that the cluster does not know.
const invalidToken = "invalid"

// startCluster serves a cluster in which every namespace exists, every token but invalidToken is an administrator's, and nothing
// is forbidden. It returns its address.
func startCluster(t testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(serveCluster))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func serveCluster(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		switch r.URL.Path {
		case "/apis/authentication.k8s.io/v1/tokenreviews":
			review := &authenticationv1.TokenReview{}
			if err := json.NewDecoder(r.Body).Decode(review); err != nil {
				refuse(w, apierrors.NewBadRequest(err.Error()))
				return
			}
			if review.Spec.Token == invalidToken {
				answer(w, http.StatusCreated, &authenticationv1.TokenReview{TypeMeta: review.TypeMeta})
				return
			}
			authenticate(w, "admin", user.SystemPrivilegedGroup)
			return
		case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
			answer(w, http.StatusCreated, &authorizationv1.SubjectAccessReview{
				TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
				Status:   authorizationv1.SubjectAccessReviewStatus{Allowed: true},
			})
			return
		}
	}
	if r.Method == http.MethodGet {
		kind, isList := emptyLists[r.URL.Path]
		switch {
		case isList && r.URL.Query().Has("watch"):
			watchNothing(w, r, metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: strings.TrimSuffix(kind.Kind, "List")})
			return
		case isList:
			answer(w, http.StatusOK, &metav1.PartialObjectMetadataList{TypeMeta: kind, ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []metav1.PartialObjectMetadata{}})
			return
		}
		if name, isNamespace := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/"); isNamespace && !strings.Contains(name, "/") {
			answer(w, http.StatusOK, &corev1.Namespace{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
				ObjectMeta: metav1.ObjectMeta{Name: name},
			})
			return
		}
	}
	refuse(w, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
}

// authenticate answers a review of the token of a user.
func authenticate(w http.ResponseWriter, name, group string) {
	answer(w, http.StatusCreated, &authenticationv1.TokenReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"},
		Status: authenticationv1.TokenReviewStatus{
			Authenticated: true,
			User:          authenticationv1.UserInfo{Username: name, Groups: []string{group}},
		},
	})
}

// watchNothing answers a watch on which nothing ever happens after the initial objects, until the client ends it.
func watchNothing(w http.ResponseWriter, r *http.Request, kind metav1.TypeMeta, initial ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for _, object := range initial {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": watch.Added, "object": object})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": watch.Bookmark,
		"object": metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1",
			Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}},
	})
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	answer(w, int(status.Code), &status)
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
