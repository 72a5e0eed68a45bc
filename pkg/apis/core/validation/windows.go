// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	maxCredentialSpecBytes  = 64 * 1024
	maxWindowsDomainLength  = 255
	maxWindowsUserLength    = 104
	windowsUserNameRule     = `must be a user or domain\user of Windows`
	windowsUserNameReserved = `"/\:;|=,+*?<>@[]`
)

// The forms of a domain in front of a user name: NetBIOS, and DNS in either case.
var (
	netBIOSDomain = regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)
	dnsDomain     = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	controlChar   = regexp.MustCompile(`[[:cntrl:]]`)
)

func validateWindowsSecurityContextOptions(options *corev1.WindowsSecurityContextOptions, pod PodContext, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	var errs field.ErrorList
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, validate.Format(*name, validation.IsDNS1123Subdomain, path.Child("gmsaCredentialSpecName"))...)
	}
	if spec := options.GMSACredentialSpec; spec != nil {
		errs = append(errs, validateCredentialSpec(*spec, path.Child("gmsaCredentialSpec"))...)
	}
	if name := options.RunAsUserName; name != nil {
		if problem := windowsUserNameProblem(*name); problem != "" {
			errs = append(errs, field.Invalid(path.Child("runAsUserName"), *name, windowsUserNameRule+": "+problem))
		}
	}
	if isTrue(options.HostProcess) && !pod.hostNetwork {
		errs = append(errs, field.Forbidden(path.Child("hostProcess"), "needs hostNetwork true in the pod"))
	}
	return errs
}

func validateCredentialSpec(spec string, path *field.Path) field.ErrorList {
	if len(spec) > maxCredentialSpecBytes {
		return field.ErrorList{field.TooLong(path, spec, maxCredentialSpecBytes)}
	}
	return validate.Required(spec, path, "must be a credential spec, or left out")
}

// windowsUserNameProblem follows what Windows says of names, see
// https://learn.microsoft.com/troubleshoot/windows-server/active-directory/naming-conventions-for-computer-domain-site-ou.
func windowsUserNameProblem(name string) string {
	domain, user, qualified := strings.Cut(name, `\`)
	if !qualified {
		domain, user = "", name
	}
	switch {
	case controlChar.MatchString(name):
		return "it has control characters"
	case qualified && len(domain) > maxWindowsDomainLength:
		return fmt.Sprintf("the domain is longer than %d characters", maxWindowsDomainLength)
	case qualified && !netBIOSDomain.MatchString(domain) && !dnsDomain.MatchString(domain):
		return "the domain is neither a NetBIOS nor a DNS name"
	case user == "":
		return "it has no user"
	case len(user) > maxWindowsUserLength:
		return fmt.Sprintf("the user is longer than %d characters", maxWindowsUserLength)
	case strings.Trim(user, ". ") == "":
		return "the user has only dots and spaces"
	case strings.ContainsAny(user, windowsUserNameReserved):
		return "the user has one of the characters " + windowsUserNameReserved
	}
	return ""
}
