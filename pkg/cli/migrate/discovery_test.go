// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// staleDiscoveryOf is the discovery of a cluster in which groups are stale.
type staleDiscoveryOf struct {
	discovery.DiscoveryInterface
	groups map[schema.GroupVersion]error
}

func (d *staleDiscoveryOf) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	if len(d.groups) == 0 {
		return nil, nil, nil
	}
	return nil, nil, &discovery.ErrGroupDiscoveryFailed{Groups: d.groups}
}

func TestStaleDiscoveryIsHealedByDeletingTheAPIService(t *testing.T) {
	ours := map[schema.GroupVersion]error{modelv1.SchemeGroupVersion: discovery.StaleGroupVersionError{}}
	for _, row := range []struct {
		name      string
		service   *apiregistrationv1.APIService
		stale     map[schema.GroupVersion]error
		mayDelete bool
		dryRun    dryRun
		// want is a part of the error, empty for none.
		want      string
		isDeleted bool
	}{
		{"nothing is stale", automanaged(), nil, true, dryRunNone, "", false},
		{"another group is", automanaged(), map[schema.GroupVersion]error{{Group: "metrics.k8s.io", Version: "v1"}: discovery.StaleGroupVersionError{}}, true, dryRunNone, "", false},
		{"an APIService of a server is, which does not answer", defaultAPIService(), ours, true, dryRunNone, "", false},
		{"an APIService of custom resources is", automanaged(), ours, true, dryRunNone, "", true},
		{"an APIService of custom resources is, in a dry run", automanaged(), ours, true, dryRunServer, "kubectl delete apiservice v1.model.github.com", false},
		{"an APIService of custom resources is, and the user may not delete it", automanaged(), ours, false, dryRunNone, "with permission to delete APIServices", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := newOptions(t)
			o.dryRun = row.dryRun
			found := &staleDiscoveryOf{groups: row.stale}
			o.clients.discovery = found
			o.clients.cluster.(*kubefake.Clientset).PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: row.mayDelete}}, nil
			})
			services := aggregatorfake.NewSimpleClientset(row.service)
			o.clients.apiServices = services
			isDeleted := false
			// The cluster creates it again, and discovers the group.
			services.PrependReactor("delete", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
				isDeleted, found.groups = true, nil
				return true, nil, nil
			})
			err := o.healDiscovery(t.Context())
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if isDeleted != row.isDeleted {
				t.Errorf("the APIService is deleted: %t", isDeleted)
			}
		})
	}
}
