// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

const (
	apiServiceName = "v1." + modelv1.GroupName
	definitionName = "modelboxes." + modelv1.GroupName

	// automanagedLabel is on the APIServices that the cluster makes for groups that it serves itself, and keeps as they are.
	automanagedLabel = "kube-aggregator.kubernetes.io/automanaged"

	serverNamespace = "modelbox-system"
	serverName      = "modelbox-apiserver"
)

var errNoDefinition = errors.New("the cluster has no CustomResourceDefinition " + definitionName)

// definition returns the CustomResourceDefinition of boxes.
func (c *clients) definition(ctx context.Context) (*unstructured.Unstructured, error) {
	definition, err := c.dynamic.Resource(definitions).Get(ctx, definitionName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, errNoDefinition
	case err != nil:
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", definitionName, err)
	}
	return definition, nil
}

// isServedByServer returns whether an aggregated server has the group. Otherwise the cluster serves it from custom resources.
func (c *clients) isServedByServer(ctx context.Context) (bool, error) {
	service, err := c.apiServices.ApiregistrationV1().APIServices().Get(ctx, apiServiceName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading APIService %s: %w", apiServiceName, err)
	}
	return service.Spec.Service != nil, nil
}

// defaultAPIService returns the APIService of an installation.
func defaultAPIService() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: apiServiceName},
		Spec: apiregistrationv1.APIServiceSpec{
			Group:                modelv1.GroupName,
			Version:              modelv1.SchemeGroupVersion.Version,
			GroupPriorityMinimum: 1000,
			VersionPriority:      15,
			Service:              &apiregistrationv1.ServiceReference{Namespace: serverNamespace, Name: serverName, Port: ptr.To[int32](443)},
		},
	}
}

// readAPIService returns the APIService that --filename has, or the APIService of an installation.
func (o *options) readAPIService() (*apiregistrationv1.APIService, error) {
	if o.filename == "" {
		return defaultAPIService(), nil
	}
	data, err := os.ReadFile(o.filename)
	if err != nil {
		return nil, fmt.Errorf("reading the APIService: %w", err)
	}
	service := &apiregistrationv1.APIService{}
	if err := yaml.UnmarshalStrict(data, service); err != nil {
		return nil, fmt.Errorf("reading the APIService from %s: %w", o.filename, err)
	}
	if service.Kind != "APIService" || service.Name != apiServiceName || service.Spec.Service == nil {
		return nil, fmt.Errorf("%s does not have APIService %s with a Service", o.filename, apiServiceName)
	}
	return service, nil
}

// handToServer has the server serve the group. The cluster puts its own APIService back as long as that has its label, which
// therefore goes with the same write.
func (c *clients) handToServer(ctx context.Context, wanted *apiregistrationv1.APIService, dry dryRun) error {
	client := c.apiServices.ApiregistrationV1().APIServices()
	service, err := client.Get(ctx, apiServiceName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dry.option()})
		return err
	}
	if err != nil {
		return fmt.Errorf("reading APIService %s: %w", apiServiceName, err)
	}
	service.Labels, service.Annotations = maps.Clone(service.Labels), maps.Clone(service.Annotations)
	delete(service.Labels, automanagedLabel)
	service.Labels = adopt.Merged(service.Labels, wanted.Labels)
	service.Annotations = adopt.Merged(service.Annotations, wanted.Annotations)
	service.Spec = wanted.Spec
	if _, err := client.Update(ctx, service, metav1.UpdateOptions{FieldManager: fieldManager, DryRun: dry.option()}); err != nil {
		return fmt.Errorf("updating APIService %s: %w", apiServiceName, err)
	}
	return nil
}

// handToDefinition has the cluster serve the group from custom resources: it makes an APIService for them where there is none.
func (c *clients) handToDefinition(ctx context.Context, dry dryRun) error {
	client := c.apiServices.ApiregistrationV1().APIServices()
	service, err := client.Get(ctx, apiServiceName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && service.Spec.Service == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading APIService %s: %w", apiServiceName, err)
	}
	err = client.Delete(ctx, apiServiceName, metav1.DeleteOptions{
		DryRun:        dry.option(),
		Preconditions: &metav1.Preconditions{UID: &service.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting APIService %s: %w", apiServiceName, err)
	}
	return nil
}

// awaitAvailable waits until the group is served by the server, or from custom resources.
func (o *options) awaitAvailable(ctx context.Context, byServer bool) error {
	return o.await(ctx, "APIService "+apiServiceName+" to be available", func(ctx context.Context) (bool, string, error) {
		service, err := o.clients.apiServices.ApiregistrationV1().APIServices().Get(ctx, apiServiceName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, "not found", nil
		}
		if err != nil {
			return false, "", err
		}
		if byServer != (service.Spec.Service != nil) {
			return false, "it still routes to the other server", nil
		}
		i := slices.IndexFunc(service.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) bool {
			return c.Type == apiregistrationv1.Available
		})
		if i < 0 {
			return false, "it has no condition Available yet", nil
		}
		condition := &service.Status.Conditions[i]
		return condition.Status == apiregistrationv1.ConditionTrue, condition.Message, nil
	})
}

// clusterID identifies the cluster.
func (c *clients) clusterID(ctx context.Context) (types.UID, error) {
	namespace, err := c.cluster.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("identifying the cluster: %w", err)
	}
	return namespace.UID, nil
}
