# bash completion for tiletune: commands, options and their values, as `tiletune help` lists them.
# shellcheck shell=bash

# Prints what may follow an option: its choices, one word each, or DIR, OPERATION, FILE, ... as in help.
# Prints nothing for a flag. In help, choices are in parentheses or on one line each with their meaning.
_tiletune_values()
{
	awk -v option="$1" '
		/^  (-[A-Za-z], |    )--/ {
			wanted = ($1 == option "," || $1 == option || $2 == option)
			name = $1 ~ /,$/ ? 3 : 2
			if (wanted && match($0, /--[a-z-]+ [^ ]/)) argument = $name
		}
		/^  -h, --help/ { wanted = 0 }
		wanted && match($0, /\([a-z0-9_-]+(\|[a-z0-9_-]+)+\)$/) {
			choices = substr($0, RSTART + 1, RLENGTH - 2)
			gsub(/\|/, " ", choices)
		}
		wanted && /^        [a-z0-9-]+  / { choices = choices " " $1 }
		END { print choices ? choices : argument }'
}

_tiletune()
{
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} now=${COMP_WORDS[COMP_CWORD]}
	local before=${COMP_WORDS[COMP_CWORD - 1]} help='' values='' words=''

	COMPREPLY=()
	# --option=value comes as three words
	if [[ $now == = ]]; then
		now=''
	elif [[ $before == = ]] && ((COMP_CWORD > 2)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
		words=$("$program" help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
		((COMP_CWORD == 1)) && words+=' --help --version'
	fi
	if ((COMP_CWORD > 1)); then
		help=$("$program" help "$command" 2>/dev/null)
		[[ $before == -* ]] && values=$(_tiletune_values "$before" <<<"$help")
	fi
	case $values in
	DIR) mapfile -t COMPREPLY < <(compgen -d -- "$now") ;;
	[A-Z]*) [[ $values == OPERATION ]] && words=operations ;;
	?*) words=$values ;;
	*)
		if [[ $now == -* && $help ]]; then
			words=$(sed -nE 's/^  (-[A-Za-z], |    )(--[a-z-]*).*/\2/p' <<<"$help")
		elif [[ $help =~ ^usage:[^$'\n']*\ OPERATION ]] &&
			{ [[ $help =~ ^usage:\ tiletune\ [a-z]+\ \[?OPERATION ]] || ((COMP_CWORD > 2)); }; then
			words=operations
		fi
		;;
	esac
	[[ $words == operations ]] && words=$("$program" families 2>/dev/null | sed -n 's/^\([^ :]*\):.*/\1/p')
	[[ $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
}

# complete files if nothing else is known
complete -o default -F _tiletune tiletune
