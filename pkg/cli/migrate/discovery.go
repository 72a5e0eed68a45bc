// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// If an APIService of the server is applied while a CustomResourceDefinition serves the group, the cluster takes the APIService
// back. Its aggregated discovery still asks the server. The group is stale from then on: no client finds its resources, and the
// garbage collector does not either. That ends when the APIService is deleted. The cluster then creates it again.

// discoveryTimeout is how long the cluster may take to serve a group again whose APIService was deleted.
const discoveryTimeout = time.Minute

const (
	staleDiscovery = "discovery of " + modelv1.GroupName + "/v1 is stale, because an APIService of the server was applied while the CustomResourceDefinition serves the group"
	freshDiscovery = "kubectl delete apiservice " + apiServiceName + " fixes it: the cluster recreates the APIService"
)

// checkDiscovery returns an error that says what to do if the custom resources are served and not discovered.
func (c *clients) checkDiscovery(ctx context.Context) error {
	isStale, err := c.isDiscoveryStale(ctx)
	if err == nil && isStale {
		err = errors.New(staleDiscovery + ": " + freshDiscovery)
	}
	return err
}

// healDiscovery has the custom resources discovered again. A dry run only says that they are not.
func (o *options) healDiscovery(ctx context.Context) error {
	if o.dryRun.isDry() {
		return o.clients.checkDiscovery(ctx)
	}
	isStale, err := o.clients.isDiscoveryStale(ctx)
	if err != nil || !isStale {
		return err
	}
	review, err := o.clients.cluster.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "delete", Group: apiregistrationv1.GroupName, Resource: "apiservices", Name: apiServiceName,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("checking the permission to delete APIService %s: %w", apiServiceName, err)
	}
	if !review.Status.Allowed {
		return fmt.Errorf("%s. Ask a user with permission to delete APIServices: %s", staleDiscovery, freshDiscovery)
	}
	client := o.clients.apiServices.ApiregistrationV1().APIServices()
	if err := client.Delete(ctx, apiServiceName, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting APIService %s because %s: %w", apiServiceName, staleDiscovery, err)
	}
	fmt.Fprintf(o.ErrOut, "apiservice.apiregistration.k8s.io/%s deleted, so that the cluster recreates it: %s\n", apiServiceName, staleDiscovery)
	return adopt.Await(ctx, discoveryTimeout, modelv1.GroupName+"/v1 in discovery", func(ctx context.Context) (bool, string, error) {
		_, err := client.Get(ctx, apiServiceName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, "APIService not found", nil
		}
		if err != nil {
			return false, "", err
		}
		isStale, err := o.clients.isDiscoveryStale(ctx)
		return !isStale, "discovery is stale", err
	})
}

// isDiscoveryStale returns whether the cluster serves the group from custom resources, and its discovery does not have it.
func (c *clients) isDiscoveryStale(ctx context.Context) (bool, error) {
	isServed, err := c.isServedByServer(ctx)
	if err != nil || isServed {
		return false, err
	}
	_, _, err = c.discovery.ServerGroupsAndResources()
	var failed *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &failed) {
		return false, err
	}
	var stale discovery.StaleGroupVersionError
	return errors.As(failed.Groups[modelv1.SchemeGroupVersion], &stale), nil
}
