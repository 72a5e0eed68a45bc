// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The messages of the rules that are not from Kubernetes. Each says what would be right. A message names a field of the box without
// "spec", because the box may be a component of a stack.
const (
	MustNotUseReplicasWithDaemonSet = "may not be set when `workload` is 'DaemonSet', which runs a pod on every node"
	MustSelectPods                  = "must have matchLabels or matchExpressions: an empty selector selects every pod of the namespace"
	MustUseImageOfBox               = "may not be set for the main container: set `image` of the box"

	mustHaveMetric               = "must have at least one metric: cpu, memory or metrics"
	mustBePercentage             = "must be greater than 0: it is a percentage of the requests of the pods"
	mustNotChangeChildLabel      = "is a label that the controller sets on every child"
	mustNotBeCandidate           = "is a label that the controller sets on the candidate of a box only"
	mustNotChangeChildAnnotation = "is an annotation that controllers or kubectl set on children"

	mustBeAddressOrName    = "must be an IP address or a DNS name"
	mustNotDependOnItself  = "a component cannot depend on itself"
	MustHavePortsToConnect = "must have ports to connect to, or workload 'Job' to wait for"

	mustNameContainer = "must be the name of the main container, or of one of `containers` or `initContainers`"
	mustHaveFile      = "must have at least one file in data or binaryData"

	mustNotUseMaxUnavailableWithDaemonSet = "may not be set when `workload` is 'DaemonSet', because the cluster would refuse every eviction: set minAvailable to a number"
	mustBeNumberWithDaemonSet             = "must be a number when `workload` is 'DaemonSet': with a percentage, the cluster would refuse every eviction"

	mustNotUseJob     = "may only be set when `workload` is 'Job' or 'CronJob'"
	mustNotUseCronJob = "may only be set when `workload` is 'CronJob'"
	mustBeTimeZone    = "must be the name of a time zone, such as 'Europe/Berlin' or 'Etc/UTC'"

	mustBeFieldPath        = "must be the path of a field, such as spec.replicas"
	mustBeFieldOfBox       = "must be a field of spec, a label or an annotation, because the box sets no other fields of the child"
	mustNotIgnoreSelector  = "must not be the selector, which selects the pods of the box"
	mustNotIgnoreOwner     = "must not be a label that identifies the owner of the child"
	mustNotIgnoreServerKey = "must not be an annotation of the server"

	mustHavePortForHTTP = "must be the number or the name of one of `ports` with protocol TCP"
	mustMatchClassName  = "must match `className` when both are specified"

	mustNotUseWithRules          = "may not be specified together with rules: specify it in a rule"
	mustNotUseWithRedirect       = "may not be specified together with requestRedirect: the pods do not get the requests"
	mustHaveOnePrefix            = "may only be specified if the rule has exactly one match, with pathType 'Prefix'"
	mustMatchServiceOrMethod     = "must have service, method or both"
	mustModifyHeader             = "must have at least one of set, add and remove"
	mustRedirectElsewhere        = "must have at least one of scheme, hostname, path and port: a redirect to the same URL never ends"
	mustBeRedirectCode           = "must be 301, 302, 303, 307 or 308"
	mustNotHaveControlCharacters = "must not have control characters"

	mustNotContainAllAddresses = "must not contain all addresses: the gateway must route to addresses outside the cidr"
	mustNotBeDefaultRoute      = "must not contain all addresses: the default route of a pod belongs to the network of the cluster"
	mustBeUnicast              = "must not be a loopback or multicast address"
	mustBeInterfaceName        = "must be the name of an interface: printable ASCII characters without blanks, '/' and ':'"
	mustNotBeDots              = "must not be '.' or '..'"
	mustUseNetworksOfBox       = "may not be set together with `networks`, from which the controller sets it"
	mustNotUseHostNetwork      = "may not be set when the pods use hostNetwork: they have the interfaces of their node only"

	mustNotBeIgnoredByPods = "has no effect: pods take labels, annotations and finalizers from their template only"
	mustNotBeDirective     = "is a directive of strategic merge patch, which podTemplate does not support"

	mustHaveMaxUnavailable           = "must have maxUnavailable"
	mustHaveSurgeOrUnavailable       = "must have maxSurge, maxUnavailable or both"
	mustNotUseMaxSurgeOfStatefulSet  = "may not be set when `workload` is 'StatefulSet', which deletes a pod before it creates one of the same name"
	mustHaveUnavailableOfStatefulSet = "may not be 0 when `workload` is 'StatefulSet'"
	mustHaveUnavailableOrSurge       = "may not be 0 when maxSurge is 0"
	mustSetMaxUnavailableTo0         = "must be 0 when maxSurge is greater than 0 and `workload` is 'DaemonSet': the default is 1"
	mustSetMaxSurgeTo0               = "must be 0 when maxUnavailable is greater than 0 and `workload` is 'DaemonSet'"
	mustBePodsOrPercentage           = `must be a number of pods without quotes, or a percentage such as "25%"`
	mustNotExceed100Percent          = "must not be greater than 100%"

	mustNotUseStepsWithoutType    = "may not be set without `rollout.type`"
	mustNotUseTypeWithRecreate    = "may not be set when `strategy` is 'Recreate': the pods of two revisions would run side by side"
	mustBeCanaryWithStatefulSet   = "must be Canary when `workload` is 'StatefulSet', which has one pod of each name"
	mustBeCanaryWithDaemonSet     = "must be Canary when `workload` is 'DaemonSet', which has one pod on each node"
	mustHaveStep                  = "must have at least one step when `rollout.type` is 'Canary'"
	mustNotUseWeightWithBlueGreen = "may not be set when `rollout.type` is 'BlueGreen': the new revision gets all of the traffic at once"
	mustBePause                   = `must be "Manual", or a duration greater than 0 and at most ` + maxStepPauseText + `, such as "5m"`

	mustHaveCommandOrArgs = "must be set when `args` is not: the Job would run the application"

	mustNotChange                    = "may not change once set"
	mustNotChangeLoadBalancerClass   = "may not change while serviceType is LoadBalancer"
	mustNotChangeHealthCheckNodePort = "may not change while externalTrafficPolicy is Local"
	mustNotChangeGoverningService    = "may not change to or from Headless when `workload` is 'StatefulSet': the Service that gives the pods their DNS names cannot change"

	mustNotUseStorageWithDaemonSet = "may not be set when `workload` is 'DaemonSet', whose pods cannot have claims of their own: use `volumes`, such as a hostPath volume"
	mustHaveSize                   = `must be the size of the volume, such as "1Gi"`
	mustRetainAllOrNone            = "must be the same for all storage when `workload` is 'StatefulSet'"

	mustNotUseWithAllPods       = "may not be specified together with allPods"
	mustUseWithStdin            = "may not be specified without stdin"
	mustNotUseWithAllContainers = "may not be specified together with allContainers"
	mustNotFollowPrevious       = "may not be specified together with previous: the previous container no longer runs"
	mustNotUseWithSinceTime     = "may not be specified together with sinceTime"
	mustBeAbove0                = "must be greater than 0"
)

// MustBeInsideCIDR is about a gateway.
func MustBeInsideCIDR(cidr string) string { return fmt.Sprintf("must be inside the cidr (%s)", cidr) }

// MustHaveFamilyOfCIDR is about a gateway or a route.
func MustHaveFamilyOfCIDR(cidr string) string {
	return fmt.Sprintf("must be of the same IP family as the cidr (%s)", cidr)
}

// MustNotBeFirstAddress is about a gateway.
func MustNotBeFirstAddress(cidr string) string {
	return fmt.Sprintf("must not be the first address of the cidr (%s)", cidr)
}

// MustNotBeBroadcast is about a gateway.
func MustNotBeBroadcast(cidr string) string {
	return fmt.Sprintf("must not be the broadcast address of the cidr (%s)", cidr)
}

// MustHaveImage is about a container of podTemplate that has no container of the box to add to. hint ends the message.
func MustHaveImage(container, hint string) string {
	return fmt.Sprintf("must name an image: the box has no container %q to add to%s", container, hint)
}

// MainContainerIs is a hint for MustHaveImage.
func MainContainerIs(name string) string { return fmt.Sprintf("; the main container is %q", name) }

// MustHaveRequests is about a percentage of the requests of all containers, of which some have none. fields are where to set them.
func MustHaveRequests(resource corev1.ResourceName, fields []string) string {
	return fmt.Sprintf("is a percentage of the %s request of every container, and some have none: set %s", resource, validate.JoinNames(fields))
}

func mustHaveRequest(resource corev1.ResourceName, container string, fields []string) string {
	return fmt.Sprintf("is a percentage of the %s request of container %q, which has none: set %s", resource, container, validate.JoinNames(fields))
}

func mustBeOutsideCIDR(cidr string) string { return fmt.Sprintf("must be outside the cidr (%s)", cidr) }

func mustHaveAddressForGateway(maxBits int) string {
	return fmt.Sprintf("must have a prefix length of at most %d: there is no address left for the gateway", maxBits)
}

func mustNotUseWithType(networkType model.NetworkType) string {
	return fmt.Sprintf("may not be set when `type` is '%s'", networkType)
}

func mustUseMasterForVLAN(networkType model.NetworkType) string {
	return mustNotUseWithType(networkType) + ": set master to an interface of the VLAN"
}

func mustUseWithType(networkType model.NetworkType) string {
	return fmt.Sprintf("must be set when `type` is '%s'", networkType)
}

// MustNotCycle is about a dependency that closes a cycle. names are the components of the cycle, the first one again at the end.
func MustNotCycle(names []string) string {
	return "must not make components wait for each other: " + strings.Join(names, " → ")
}

func mustHaveFewerVariables(count int) string {
	return fmt.Sprintf("gives a container %d environment variables, including its own: must have at most %d", count, maxVariables)
}

// mustNotUseWith is about a field that has no meaning for pods that end.
func mustNotUseWith(workload model.Workload) string {
	return fmt.Sprintf("may not be set when `workload` is '%s', whose pods run until they have succeeded", workload)
}

// MustNotShareChild is about a component that would have the same child as another component.
func MustNotShareChild(component, kind string) string {
	return fmt.Sprintf("component %s has a %s of this name already", component, kind)
}

func mustHaveOwnVolume(volume string, taken *field.Path) string {
	return fmt.Sprintf("the name of its volume, %q, is already used by %s", volume, taken)
}

func mustHaveOwnConfigMap(configMap string, taken *field.Path) string {
	return fmt.Sprintf("the name of its ConfigMap, %q, is already used by %s", configMap, taken)
}

func mustIgnoreLess(kind string) string {
	return fmt.Sprintf("covers too much of the %s: name the fields below it", kind)
}

func mustBeCustomResourceType(resourceType model.ResourceType) string {
	return fmt.Sprintf("may not be set when `resourceType` is '%s': set resourceType to custom", resourceType)
}

func mustBeBetween(minimum, maximum int) string {
	return fmt.Sprintf("must be between %d and %d", minimum, maximum)
}

func mustBeAtMost(maximum int64) string { return fmt.Sprintf("must be at most %d", maximum) }

func mustBeNodePort(portRange utilnet.PortRange) string {
	return fmt.Sprintf("must be in the cluster's range of node ports, %s", portRange)
}

func mustSelectPodsOfBox(boxName string) string {
	return fmt.Sprintf("must be %q, the name of the box: the label selects its pods", boxName)
}

func mustBeRollingStep(limits string) string {
	return `must be a percentage from "1%" to "100%", a number of pods above 0 without quotes, or an object with ` + limits
}

func mustBeRollingUpdate(workload model.Workload) string {
	return fmt.Sprintf("must be %s when `workload` is '%s'", model.StrategyRollingUpdate, workload)
}

// mustHaveNameForCandidate is about a type of rollouts.
func mustHaveNameForCandidate(maxLength int) string {
	return fmt.Sprintf("may not be set when the name of the box has more than %d characters: it must fit into the name of the candidate, which ends in %q", maxLength, helper.CandidateNameSuffix)
}

func mustNotBeLessThanBefore(before int32) string {
	return fmt.Sprintf("must be at least %d, the weight of the step before", before)
}

func mustHaveBothFamilies(policy corev1.IPFamilyPolicy) string {
	return fmt.Sprintf("must have both families when `ipFamilyPolicy` is '%s', or none to let the cluster choose", policy)
}

func mustNotExceedRequest(request string) string {
	return fmt.Sprintf("must not be longer than request, which is %s", request)
}

func mustHaveOwnSection(first *field.Path) string {
	return fmt.Sprintf("must be specified and different in all references to the same object, such as %s", first)
}

func mustNameOnePort(ports []string) string {
	return "must be the name of one port, and is the name of several: " + validate.JoinNames(ports)
}

func mustNamePort(protocol corev1.Protocol, names []string) string {
	return fmt.Sprintf("must be a number or the name of a container's %s port: %s", protocol, validate.JoinNames(names))
}

func mustBePortNumber(protocol corev1.Protocol) string {
	return fmt.Sprintf("must be a number, because no %s port of a container has a name", protocol)
}

func mustNotShareClaim(replicasField string, replicas int32) string {
	return fmt.Sprintf("may not have ReadWriteOncePod, which allows one pod, when `%s` is %d", replicasField, replicas)
}

const (
	// The maximum bytes of the parts of an error.
	maxFieldBytes  = 256
	maxValueBytes  = 128
	maxDetailBytes = 512

	// maxToldBytes is the maximum size of all errors in JSON. It keeps the response for a box that is refused below 64 KiB. The
	// response has each error twice: in the message, and as a cause.
	maxToldBytes = 56 << 10

	ellipsis = "..."
)

// TruncateErrors returns the errors for a response of at most 64 KiB: at most validate.MaxErrors of them, with long paths, values
// and details cut. If it leaves out errors, the last error says so.
func TruncateErrors(errs field.ErrorList) field.ErrorList {
	var told field.ErrorList
	size := 0
	for _, err := range errs {
		err = shortened(err)
		size += toldBytes(err)
		if len(told) == validate.MaxErrors || size > maxToldBytes {
			return append(told, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, "has more errors than those that are listed"))
		}
		told = append(told, err)
	}
	return told
}

// toldBytes returns the size of an error in the JSON of a response.
func toldBytes(err *field.Error) int {
	message, _ := json.Marshal(err.Error())  // a string cannot fail
	body, _ := json.Marshal(err.ErrorBody()) // a string cannot fail
	field, _ := json.Marshal(err.Field)      // a string cannot fail
	const keys = len(`{"reason":"FieldValueInvalid","message":,"field":},,`)
	return len(message) + len(body) + len(field) + keys
}

func shortened(err *field.Error) *field.Error {
	short := *err
	short.Field = shorten(err.Field, maxFieldBytes)
	short.Detail = shorten(err.Detail, maxDetailBytes)
	switch value := reflect.ValueOf(err.BadValue); value.Kind() {
	case reflect.String:
		if value.Len() > maxValueBytes {
			short.BadValue = shorten(value.String(), maxValueBytes)
		}
	case reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer:
		if text := fmt.Sprint(err.BadValue); len(text) > maxValueBytes {
			short.BadValue = shorten(text, maxValueBytes)
		}
	}
	return &short
}

// shorten returns at most the given number of bytes of a text, with "..." instead of the rest.
func shorten(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	end := bytes - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
