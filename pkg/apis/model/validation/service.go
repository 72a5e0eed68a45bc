// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateService validates the ports of a box, and the other fields of its Service. A box without ports has no Service, and may
// have the fields of any type of Service.
func validateService(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	service, servicePath := serviceOf(spec), path.Child("service")
	errs := slices.Concat(
		validatePorts(spec, &service.Spec, path.Child("ports")),
		corevalidation.ValidateServiceAnnotations(service, func(key string) *field.Path { return serviceAnnotationPath(spec, key, path) }),
		corevalidation.ValidateServiceOptions(&service.Spec, servicePath),
		validateSingleIPFamily(&service.Spec, servicePath.Child("ipFamilies")),
	)
	return withServiceType(errs, helper.EffectiveServiceType(spec.ServiceType, spec.Ports))
}

// serviceOf returns the fields of the Service of a box that are validated. Its type is LoadBalancer for a box without ports,
// because this type may have all fields.
func serviceOf(spec *model.ModelBoxSpec) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Annotations: serviceAnnotations(spec)},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: spec.Ports},
	}
	if len(spec.Ports) > 0 {
		service.Spec.Type = corev1.ServiceType(helper.EffectiveServiceType(spec.ServiceType, spec.Ports))
	}
	if service.Spec.Type == corev1.ServiceType(model.ServiceTypeHeadless) {
		service.Spec.Type, service.Spec.ClusterIP = corev1.ServiceTypeClusterIP, corev1.ClusterIPNone
	}
	if options := spec.Service; options != nil {
		service.Spec.SessionAffinity = options.SessionAffinity
		service.Spec.SessionAffinityConfig = options.SessionAffinityConfig
		service.Spec.ExternalTrafficPolicy = options.ExternalTrafficPolicy
		service.Spec.InternalTrafficPolicy = options.InternalTrafficPolicy
		service.Spec.LoadBalancerClass = options.LoadBalancerClass
		service.Spec.LoadBalancerSourceRanges = options.LoadBalancerSourceRanges
		service.Spec.AllocateLoadBalancerNodePorts = options.AllocateLoadBalancerNodePorts
		service.Spec.HealthCheckNodePort = options.HealthCheckNodePort
		service.Spec.IPFamilies = options.IPFamilies
		service.Spec.IPFamilyPolicy = options.IPFamilyPolicy
		service.Spec.TrafficDistribution = options.TrafficDistribution
	}
	return service
}

// validateSingleIPFamily refuses a single family of a Service that may have two. The cluster would add the other one, and the
// controller would remove it again.
func validateSingleIPFamily(service *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	if len(service.IPFamilies) != 1 || !corevalidation.IsDualStack(service.IPFamilyPolicy) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, service.IPFamilies, mustHaveBothFamilies(*service.IPFamilyPolicy))}
}

// withServiceType replaces the name of the field type in errors about a Service by serviceType.
func withServiceType(errs field.ErrorList, serviceType model.ServiceType) field.ErrorList {
	names := strings.NewReplacer("`type` is 'ClusterIP'", fmt.Sprintf("`serviceType` is '%s'", serviceType), "`type`", "`serviceType`")
	for _, err := range errs {
		err.Detail = names.Replace(err.Detail)
	}
	return errs
}

// validateServiceUpdate refuses changes that the cluster refuses for an existing Service.
func validateServiceUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if len(spec.Ports) == 0 || len(old.Ports) == 0 {
		return nil
	}
	serviceType, oldType := helper.EffectiveServiceType(spec.ServiceType, spec.Ports), helper.EffectiveServiceType(old.ServiceType, old.Ports)
	service, oldService := ptr.Deref(spec.Service, model.ModelBoxService{}), ptr.Deref(old.Service, model.ModelBoxService{})
	path = path.Child("service")
	var errs field.ErrorList
	if serviceType == model.ServiceTypeLoadBalancer && oldType == model.ServiceTypeLoadBalancer {
		errs = validateLoadBalancerUpdate(&service, &oldService, path)
	}
	// A headless Service has no cluster IP, so that its family can change.
	isHeadless := serviceType == model.ServiceTypeHeadless || oldType == model.ServiceTypeHeadless
	if families, oldFamilies := service.IPFamilies, oldService.IPFamilies; !isHeadless && len(families) > 0 && len(oldFamilies) > 0 && families[0] != oldFamilies[0] {
		errs = append(errs, field.Invalid(path.Child("ipFamilies").Index(0), families[0], mustNotChange))
	}
	return errs
}

func validateLoadBalancerUpdate(service, old *model.ModelBoxService, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !apiequality.Semantic.DeepEqual(service.LoadBalancerClass, old.LoadBalancerClass) {
		errs = append(errs, field.Invalid(path.Child("loadBalancerClass"), service.LoadBalancerClass, mustNotChangeLoadBalancerClass))
	}
	const local = corev1.ServiceExternalTrafficPolicyLocal
	isChecked := service.ExternalTrafficPolicy == local && old.ExternalTrafficPolicy == local
	if port := service.HealthCheckNodePort; isChecked && port != 0 && port != old.HealthCheckNodePort {
		errs = append(errs, field.Invalid(path.Child("healthCheckNodePort"), port, mustNotChangeHealthCheckNodePort))
	}
	return errs
}

// ValidateNodePortRange requires that the node ports of a box are in the range. An empty range means that the range of the cluster
// is not known, and accepts all of them. ValidateModelBox refuses numbers that are not ports. The spec of the box is at path.
func ValidateNodePortRange(box *model.ModelBox, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	if portRange.Size == 0 {
		return nil
	}
	var errs field.ErrorList
	for i := range box.Spec.Ports {
		errs = append(errs, validateInRange(box.Spec.Ports[i].NodePort, portRange, path.Child("ports").Index(i).Child("nodePort"))...)
	}
	if service := box.Spec.Service; service != nil {
		errs = append(errs, validateInRange(service.HealthCheckNodePort, portRange, path.Child("service", "healthCheckNodePort"))...)
	}
	return errs
}

// ValidateNodePortRangeUpdate is ValidateNodePortRange for an update of old, which may keep its node ports.
func ValidateNodePortRangeUpdate(box, old *model.ModelBox, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	return ratchetSpec(path, box, old, ValidateNodePortRange(box, portRange, path), ValidateNodePortRange(old, portRange, path))
}

func validateInRange(nodePort int32, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	if len(validation.IsValidPortNum(int(nodePort))) > 0 || portRange.Contains(int(nodePort)) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, nodePort, mustBeNodePort(portRange))}
}

// validatePorts validates the ports of a box as the ports of its Service, and checks that their target ports exist.
func validatePorts(spec *model.ModelBoxSpec, service *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	errs := withoutDefaults(corevalidation.ValidateServicePorts(service, path), spec.Ports, path)
	targets := portNamesOf(spec)
	for i := range validate.Each(spec.Ports, &errs) {
		errs = append(errs, validateNamedTargetPort(&spec.Ports[i], targets, path.Index(i).Child("targetPort"))...)
	}
	return errs
}

// withoutDefaults leaves out an error about the default of a name or of a target port that is wrong because the port is wrong. The
// author of the box did not write the default.
func withoutDefaults(errs field.ErrorList, ports []corev1.ServicePort, path *field.Path) field.ErrorList {
	derived := map[string]bool{}
	for i := range ports {
		port, portPath := &ports[i], path.Index(i)
		if port.TargetPort == intstr.FromInt32(port.Port) {
			derived[portPath.Child("targetPort").String()] = true
		}
		if port.Name != modelv1.DefaultPortName(port) {
			continue
		}
		isDuplicate := slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field == portPath.String() })
		name := portPath.Child("name").String()
		errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
			return err.Field == name && (isDuplicate || err.Type != field.ErrorTypeDuplicate)
		})
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return derived[err.Field] })
}

// validateNamedTargetPort requires that the name of a target port is the name of one port of a container. The cluster accepts any
// name, and would route to no port, or to the first of several. ValidateServicePorts refuses names that are not valid.
func validateNamedTargetPort(port *corev1.ServicePort, targets portNames, path *field.Path) field.ErrorList {
	if port.TargetPort == intstr.FromInt32(port.Port) {
		return nil
	}
	errs := corevalidation.ValidatePortNumOrName(port.TargetPort, path)
	if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
		return errs // The cluster has a default for these.
	}
	if port.TargetPort.Type == intstr.Int || len(errs) > 0 {
		return nil
	}
	names := targets.names[port.Protocol]
	meant := targets.meant[portName{port.TargetPort.StrVal, port.Protocol}]
	var detail string
	switch {
	case len(meant) == 1:
		return nil
	case len(meant) > 1:
		detail = mustNameOnePort(meant)
	case len(names) > 0:
		detail = mustNamePort(port.Protocol, names)
	default:
		detail = mustBePortNumber(port.Protocol)
	}
	return field.ErrorList{field.Invalid(path, port.TargetPort.StrVal, detail)}
}

// portNames are the names of container ports that a Service can route to.
type portNames struct {
	// names has the quoted names of each protocol, in the order of the containers.
	names map[corev1.Protocol][]string
	// meant has the ports of each name.
	meant map[portName][]string
}

type portName struct {
	name     string
	protocol corev1.Protocol
}

func portNamesOf(spec *model.ModelBoxSpec) portNames {
	p := portNames{map[corev1.Protocol][]string{}, map[portName][]string{}}
	for _, served := range servedPortsOf(spec).ports {
		if served.port.Name == "" {
			continue
		}
		protocol := cmp.Or(served.port.Protocol, corev1.ProtocolTCP)
		key := portName{served.port.Name, protocol}
		p.names[protocol] = append(p.names[protocol], strconv.Quote(served.port.Name))
		p.meant[key] = append(p.meant[key], fmt.Sprintf("%d of container %q", served.port.ContainerPort, served.container))
	}
	return p
}

// servedPorts are the container ports that a Service can route to. Init containers that are not sidecars have none.
type servedPorts struct {
	ports []servedPort
	// first has the index of the first port with the number in each container.
	first map[containerPort]int
}

type servedPort struct {
	container string
	port      corev1.ContainerPort
}

type containerPort struct {
	container string
	number    int32
}

func servedPortsOf(spec *model.ModelBoxSpec) *servedPorts {
	served := &servedPorts{first: map[containerPort]int{}}
	served.add(spec.Name, mainContainerPorts(spec))
	for i := range spec.Containers {
		served.add(spec.Containers[i].Name, spec.Containers[i].Ports)
	}
	for i := range spec.InitContainers {
		if corevalidation.IsRestartableInitContainer(&spec.InitContainers[i]) {
			served.add(spec.InitContainers[i].Name, spec.InitContainers[i].Ports)
		}
	}
	if spec.PodTemplate == nil {
		return served
	}
	for i := range spec.PodTemplate.Spec.Containers {
		served.merge(spec.PodTemplate.Spec.Containers[i].Name, spec.PodTemplate.Spec.Containers[i].Ports)
	}
	for i := range spec.PodTemplate.Spec.InitContainers {
		if isOverlaidSidecar(&spec.PodTemplate.Spec.InitContainers[i], spec.InitContainers) {
			served.merge(spec.PodTemplate.Spec.InitContainers[i].Name, spec.PodTemplate.Spec.InitContainers[i].Ports)
		}
	}
	return served
}

func (s *servedPorts) add(container string, ports []corev1.ContainerPort) {
	for _, port := range ports {
		s.addOne(container, port)
	}
}

func (s *servedPorts) addOne(container string, port corev1.ContainerPort) {
	key := containerPort{container, port.ContainerPort}
	if _, found := s.first[key]; !found {
		s.first[key] = len(s.ports)
	}
	s.ports = append(s.ports, servedPort{container, port})
}

// merge adds ports of the overlay to a container. As in a strategic merge, a port is merged into the first one with its number.
func (s *servedPorts) merge(container string, ports []corev1.ContainerPort) {
	for _, port := range ports {
		i, found := s.first[containerPort{container, port.ContainerPort}]
		if !found {
			s.addOne(container, port)
			continue
		}
		merged := &s.ports[i].port
		merged.Name, merged.Protocol = cmp.Or(port.Name, merged.Name), cmp.Or(port.Protocol, merged.Protocol)
	}
}

// isOverlaidSidecar returns whether an init container of the overlay is a sidecar, or is merged into one.
func isOverlaidSidecar(overlay *corev1.Container, initContainers []corev1.Container) bool {
	if overlay.RestartPolicy != nil {
		return corevalidation.IsRestartableInitContainer(overlay)
	}
	return slices.ContainsFunc(initContainers, func(c corev1.Container) bool {
		return c.Name == overlay.Name && corevalidation.IsRestartableInitContainer(&c)
	})
}
